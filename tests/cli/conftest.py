"""A ledger with a small life in it, and a way to run commands on it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memgate_core.cli.main import status_of
from tests.support.scripted import scripted_gate
from tests.support.talk import Talk

START = datetime(2025, 3, 2, 9, tzinfo=UTC)


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as JSON."""
        return json.loads(self.out)


Run = Callable[..., Ran]


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Run]:
    """Runs `memgate …` in a folder of its own, with no settings from outside."""
    monkeypatch.chdir(tmp_path)
    for name in ("MEMGATE_CONFIG", "MEMGATE_LEDGER", "MEMGATE_TENANT", "MEMGATE_CLASSIFIER"):
        monkeypatch.setenv(name, "")  # so that what a command sets is undone
        monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "200")

    def ran(*arguments: str) -> Ran:
        capsys.readouterr()
        status = status_of(list(arguments))
        captured = capsys.readouterr()
        return Ran(status, captured.out, captured.err)

    return ran  # type: ignore[return-value]


@pytest.fixture
def life(tmp_path: Path) -> Path:
    """memgate.db in the folder: Leeds, a plan for Seattle, a job, and another user's plan."""
    with scripted_gate(f"sqlite:///{tmp_path / 'memgate.db'}") as gate:
        ana = Talk(gate, "ana", START)
        ana.says("I live in Leeds", message_id="m1")
        ana.says("I work at Acme", message_id="m2", after=timedelta(days=1))
        ana.says("I might move to Seattle", message_id="m3", after=timedelta(days=2))
        Talk(gate, "ben", START).says("I might join Initech", message_id="b1")
    return tmp_path / "memgate.db"
