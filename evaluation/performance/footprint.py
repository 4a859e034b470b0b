"""What it takes to have the gate at all: import time, what is imported, memory."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from statistics import median

from evaluation.performance.measured import Measured

_FRAMEWORKS = ("mem0", "graphiti_core", "langchain_core", "langgraph", "torch", "onnxruntime")
_IMPORT = """
import sys, time
started = time.perf_counter()
import memgate_core
taken = (time.perf_counter() - started) * 1000
loaded = [name for name in {frameworks!r} if name in sys.modules]
print(taken, ",".join(loaded))
"""
_MEMORY = """
import resource
from datetime import UTC, datetime
from memgate_core import MemoryGate
with MemoryGate.open("sqlite://") as gate:
    for number, text in enumerate(("I live in Leeds.", "I might move to Seattle, who knows.",
                                   "I sold the piano on Friday and bought a cello.") * 10):
        gate.observe(gate.turn(text, user_id="ana", occurred_at=datetime(2025, 1, 1, tzinfo=UTC)))
status = open("/proc/self/status").read().split("VmHWM:")[1].split()[0]
print(int(status) / 1024)
"""


def measures() -> Iterator[Measured]:
    """Import time and memory, each in a process of its own."""
    runs = [_run(_IMPORT.format(frameworks=_FRAMEWORKS)).split(" ") for _ in range(5)]
    loaded = {name for run in runs for name in run[1].strip().split(",") if name}
    yield Measured(
        part="footprint",
        name="import memgate_core",
        value=median(float(run[0]) for run in runs),
        unit="ms",
        target=150,
        note=f"loads {', '.join(sorted(loaded))}" if loaded else "loads no framework and no model",
    )
    if sys.platform == "linux":
        yield Measured(
            part="footprint",
            name="core with local judges, peak memory",
            value=float(_run(_MEMORY)),
            unit="MB",
            target=200,
        )


def _run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    return done.stdout
