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
    for line in traced(Path(sys.argv[1]), Setting(gate="off", matcher="names")):
        write(line)
print(int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 1024)
"""


def measures(folder: Path, megabytes: int) -> Iterator[Measured]:
    """Peak memory over a file of so many megabytes against one of a hundredth of that."""
    if sys.platform != "linux":
        return
    small = _peak(folder, max(1, megabytes // 100))
    large = _peak(folder, megabytes)
    yield Measured(
        part="streaming",
        name=f"peak memory, {megabytes} MB of conversations against a hundredth",
        value=large / small,
        unit="×",
        target=1.2,
        note=f"{large:.0f} MB against {small:.0f} MB",
    )


def _peak(folder: Path, megabytes: int) -> float:
    source, trace = folder / "large.jsonl", folder / "trace.jsonl"
    _write(source, megabytes)
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, str(source), str(trace)],
        check=True,
        capture_output=True,
        text=True,
    )
    source.unlink()
    trace.unlink()
    return float(done.stdout)


def _write(path: Path, megabytes: int) -> None:
    talk = "The river was high again this morning and the ferry did not run. " * 60
    turn = {"role": "user", "content": talk}
    reply = {"role": "assistant", "content": "That happens in spring."}
    sessions = [{"date": "2025-01-10T10:00:00Z", "turns": [turn, reply] * 12}]
    field = {"attribute": "home_city", "description": "the city or town where the user lives"}
    with path.open("w", encoding="utf-8") as file:
        number = 0
        while file.tell() < megabytes * 1_000_000:
            record = {"id": f"c{number}", "field": field, "probe": "?", "sessions": sessions}
            file.write(json.dumps(record) + "\n")
            number += 1
