"""A large file in constant memory: peak memory of a run over a small and a large one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from evaluation.performance.measured import Measured

_PROGRAM = """
import sys
from pathlib import Path
from evaluation.jsonl import writing
from evaluation.plans.run import traced
from evaluation.plans.setting import Setting
with writing(Path(sys.argv[2])) as write:
    for line in traced(Path(sys.argv[1]), Setting(gate=sys.argv[3], matcher="names")):
        write(line)
print(int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 1024)
"""
_JUDGED_SHARE = 0.005
"""Every sentence of a judged file costs about a millisecond: a whole gigabyte would take hours."""


def measures(folder: Path, megabytes: int) -> Iterator[Measured]:
    """Peak memory over a file of so many megabytes against a part of it, gate off and on."""
    if sys.platform != "linux":
        return
    yield _growth(folder, megabytes, "off", sentences=200)
    yield _growth(folder, megabytes * _JUDGED_SHARE, "on", sentences=4)


def _growth(folder: Path, megabytes: float, gate: str, sentences: int) -> Measured:
    small = _peak(folder, megabytes / 20, gate, sentences)
    large = _peak(folder, megabytes, gate, sentences)
    return Measured(
        part="streaming",
        name=f"peak memory, {megabytes:g} MB of conversations against a twentieth, gate {gate}",
        value=large / small,
        unit="×",
        target=1.2,
        note=f"{large:.0f} MB against {small:.0f} MB",
    )


def _peak(folder: Path, megabytes: float, gate: str, sentences: int) -> float:
    source, trace = folder / "large.jsonl", folder / "trace.jsonl"
    _write(source, megabytes, sentences)
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, str(source), str(trace), gate],
        check=True,
        capture_output=True,
        text=True,
    )
    source.unlink()
    trace.unlink()
    return float(done.stdout)


def _write(path: Path, megabytes: float, sentences: int) -> None:
    """Conversations with an assistant that answers in so many sentences: no two say the same."""
    field = {"attribute": "home_city", "description": "the city or town where the user lives"}
    with path.open("w", encoding="utf-8") as file:
        number = 0
        while file.tell() < megabytes * 1_000_000:
            turns = [turn for n in range(12) for turn in _exchange(12 * number + n, sentences)]
            sessions = [{"date": "2025-01-10T10:00:00Z", "turns": turns}]
            record = {"id": f"c{number}", "field": field, "probe": "?", "sessions": sessions}
            file.write(json.dumps(record) + "\n")
            number += 1


def _exchange(number: int, sentences: int) -> list[dict[str, str]]:
    said = f"The river stood at mark {number} again this morning and the ferry did not run."
    answer = f"In spring {number} hills lose their snow and the weir is opened. " * sentences
    return [{"role": "user", "content": said}, {"role": "assistant", "content": answer}]
