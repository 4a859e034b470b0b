"""Putting a memory behind the gate: what stays the user's own, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mem0 import AsyncMemory, Memory

from memgate_core import MemoryGate
from memgate_core.errors import ConfigurationError
from memgate_mem0 import (
    GatedAsyncMemory,
    GatedMemory,
    embedded_config,
    embedded_memory,
    gate_memory,
)
from tests.mem0.conftest import shut
from tests.mem0.talk import MemoryTalk
from tests.support.scripted import scripted_gate


@pytest.fixture
def gate() -> Iterator[MemoryGate]:
    with scripted_gate("sqlite://") as opened:
        yield opened


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[Memory]:
    memory = Memory.from_config(embedded_config(tmp_path / "m"))
    yield memory
    memory.vector_store.client.close()
    memory.close()


def test_an_existing_memory_is_wrapped_with_its_own_parts(plain: Memory, gate: MemoryGate) -> None:
    gated = gate_memory(plain, gate)
    assert isinstance(gated, GatedMemory)
    assert isinstance(gated, Memory)
    for part in ("vector_store", "llm", "embedding_model", "db", "config"):
        assert getattr(gated, part) is getattr(plain, part)
    gated.add("I might move to Seattle.", user_id="ana", infer=False)
    assert plain.get_all(filters={"user_id": "ana"})["results"] == []


def test_ungated_readers_see_current_facts_only(plain: Memory, gate: MemoryGate) -> None:
    talk = MemoryTalk(gate_memory(plain, gate))
    talk.says("I live in Leeds.")
    talk.says("I might move to Seattle.")
    talk.says("I moved to York.")
    shown = plain.get_all(filters=talk.filters)["results"]
    assert [row["memory"] for row in shown] == ["I moved to York."]


def test_the_async_colour_is_kept(tmp_path: Path, gate: MemoryGate) -> None:
    plain = AsyncMemory.from_config(embedded_config(tmp_path / "m"))
    gated = gate_memory(plain, gate)
    assert isinstance(gated, GatedAsyncMemory)
    plain.vector_store.client.close()
    plain.close()


def test_a_class_of_the_users_own_keeps_its_methods(tmp_path: Path, gate: MemoryGate) -> None:
    class Loud(Memory):  # type: ignore[misc]
        def shout(self) -> str:
            return "!"

    gated: Any = gate_memory(Loud.from_config(embedded_config(tmp_path / "m")), gate)
    assert gated.shout() == "!"
    assert isinstance(gated, Loud)
    assert isinstance(gated, GatedMemory)
    gated.add("I might move to Seattle.", user_id="ana", infer=False)
    assert gated.get_all(filters={"user_id": "ana"})["results"] == []
    shut(gated)


def test_what_is_no_memory_or_gated_already_is_refused(plain: Memory, gate: MemoryGate) -> None:
    with pytest.raises(ConfigurationError, match="gated already"):
        gate_memory(gate_memory(plain, gate), gate)
    with pytest.raises(ConfigurationError, match="not dict"):
        gate_memory({}, gate)
    with pytest.raises(ConfigurationError, match="gate must be"):
        gate_memory(plain, 7)  # type: ignore[call-overload]


def test_a_ledger_url_opens_a_gate_that_is_closed_with_the_memory(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'l.db'}"
    memory = GatedMemory.from_config(embedded_config(tmp_path / "m"), url)
    assert memory.desk.owns_gate
    assert memory.gate.ledger.url == url
    shut(memory)


def test_an_embedded_memory_lies_in_one_folder_and_persists(tmp_path: Path) -> None:
    memory = embedded_memory(tmp_path / "home")
    memory.add("The tap drips again.", user_id="ana", infer=False, message_id="m1")
    store = memory.vector_store
    memory.close()
    store.client.close()
    assert {p.name for p in (tmp_path / "home").iterdir()} >= {"memgate.db", "history.db", "qdrant"}
    again = embedded_memory(tmp_path / "home")
    rows = again.get_all(filters={"user_id": "ana"})["results"]
    assert [row["memory"] for row in rows] == ["The tap drips again."]
    repeated = again.add("The tap drips again.", user_id="ana", infer=False, message_id="m1")
    assert len(repeated["results"]) == 1
    assert len(again.get_all(filters={"user_id": "ana"})["results"]) == 1
    shut(again)


def test_a_memory_without_a_model_says_what_to_do(tmp_path: Path, gate: MemoryGate) -> None:
    memory = embedded_memory(tmp_path / "m", gate)
    with pytest.raises(Exception, match="infer=False"):
        memory.add("I live in Leeds.", user_id="ana")
    shut(memory)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ConfigurationError, match="file"):
        embedded_config(tmp_path / "file")


def test_two_tenants_share_nothing(tmp_path: Path, gate: MemoryGate) -> None:
    north = embedded_memory(tmp_path / "n", gate, tenant="north")
    south = embedded_memory(tmp_path / "s", gate, tenant="south", collection="other")
    north.add("I might move to Seattle.", user_id="ana", infer=False)
    answer = south.add("I have moved to Seattle.", user_id="ana", infer=False)
    assert [entry["event"] for entry in answer["results"]] == ["ADD"]
    assert len(north.staged.get_all(filters={"user_id": "ana"})["results"]) == 1
    north.add("I have moved to Seattle.", user_id="ana", infer=False)
    for memory, texts in (
        (north, ["User lives in Seattle"]),
        (south, ["I have moved to Seattle."]),
    ):
        assert memory.deliver().failed == 0  # everything that is due, of whatever tenant
        rows = memory.get_all(filters={"user_id": "ana"})["results"]
        assert [row["memory"] for row in rows] == texts
    shut(north)
    shut(south)


def test_importing_the_package_imports_no_framework() -> None:
    code = (
        "import sys, memgate_mem0; "
        "print([m for m in ('mem0', 'qdrant_client', 'numpy', 'sqlalchemy') if m in sys.modules])"
    )
    path = [p for p in sys.path if p]
    ran = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {path!r}; {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.strip() == "[]"


def test_an_embedded_memory_reports_no_usage() -> None:
    code = (
        "from memgate_mem0 import embedded_config; import tempfile; "
        "embedded_config(tempfile.mkdtemp()); "
        "from mem0.memory import telemetry; print(telemetry.MEM0_TELEMETRY)"
    )
    path = [p for p in sys.path if p]
    ran = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {path!r}; {code}"],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "/usr/bin", "MEM0_DIR": "/tmp/memgate-mem0-home"},
    )
    assert ran.stdout.strip().endswith("False")
