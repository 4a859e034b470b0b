"""Every public method of Mem0's classes is covered; a release that adds one fails here."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from mem0 import AsyncMemory, AsyncMemoryClient, Memory, MemoryClient

from memgate_mem0 import (
    GatedAsyncMemory,
    GatedAsyncMemoryClient,
    GatedMemory,
    GatedMemoryClient,
)

PAIRS = [
    pytest.param(Memory, GatedMemory, id="Memory"),
    pytest.param(AsyncMemory, GatedAsyncMemory, id="AsyncMemory"),
    pytest.param(MemoryClient, GatedMemoryClient, id="MemoryClient"),
    pytest.param(AsyncMemoryClient, GatedAsyncMemoryClient, id="AsyncMemoryClient"),
]

OSS = {
    "add": "gated",
    "update": "gated",
    "delete": "in step",
    "delete_all": "in step",
    "reset": "in step",
    "search": "reads what may be read",
    "get": "reads what may be read",
    "get_all": "reads what may be read",
    "history": "reads what may be read",
    "close": "delivers first",
    "from_config": "opens a gate",
    "chat": "Mem0 has not implemented it",
    "project": "refuses updates in the open-source SDK",
    "entity_store": "Mem0's own collection",
}
HOSTED = {
    "add": "gated",
    "update": "gated",
    "batch_update": "gated",
    "delete": "in step",
    "batch_delete": "in step",
    "delete_all": "in step",
    "delete_users": "in step",
    "reset": "in step",
    "search": "reads what may be read",
    "get": "reads what may be read",
    "get_all": "reads what may be read",
    "history": "reads what may be read",
    "users": "reads",
    "chat": "Mem0 has not implemented it",
    # what the service makes of memories that were gated when they came in
    "create_memory_export": "reads",
    "get_memory_export": "reads",
    "get_summary": "reads",
    "get_profile": "reads",
    "generate_profile": "made from stored memories",
    "sample_profiles": "made from stored memories",
    "get_profile_job": "reads",
    # settings of the project, no memories
    "get_profile_settings": "settings",
    "update_profile_settings": "settings",
    "get_project": "settings",
    "update_project": "settings",
    "get_webhooks": "settings",
    "create_webhook": "settings",
    "update_webhook": "settings",
    "delete_webhook": "settings",
    "feedback": "a mark on a memory, no words of the user's",
}
COVERED = {Memory: OSS, AsyncMemory: OSS, MemoryClient: HOSTED, AsyncMemoryClient: HOSTED}
OVERRIDDEN = ("gated", "in step", "reads what may be read", "delivers first", "opens a gate")


def public(cls: type[Any]) -> set[str]:
    return {name for name, _ in inspect.getmembers(cls) if not name.startswith("_")}


@pytest.mark.parametrize(("native", "_gated"), PAIRS)
def test_every_public_name_is_known(native: type[Any], _gated: type[Any]) -> None:
    assert public(native) == set(COVERED[native])


@pytest.mark.parametrize(("native", "gated"), PAIRS)
def test_what_is_said_to_be_overridden_is(native: type[Any], gated: type[Any]) -> None:
    for name, how in COVERED[native].items():
        own = name in vars(gated)
        assert own == how.startswith(OVERRIDDEN), name


@pytest.mark.parametrize(("native", "gated"), PAIRS)
def test_signatures_are_mem0s_with_keywords_added(native: type[Any], gated: type[Any]) -> None:
    for name in COVERED[native]:
        theirs, ours = getattr(native, name), getattr(gated, name)
        if not callable(theirs) or name == "from_config":
            continue
        assert inspect.iscoroutinefunction(ours) == inspect.iscoroutinefunction(theirs), name
        known = inspect.signature(theirs).parameters
        offered = inspect.signature(ours).parameters
        for parameter in known.values():
            mine = offered[parameter.name]
            assert mine.kind == parameter.kind, (name, parameter.name)
            assert mine.default == parameter.default, (name, parameter.name)
        added = [offered[extra] for extra in offered if extra not in known]
        assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in added), name


@pytest.mark.parametrize(("native", "gated"), PAIRS)
def test_the_gated_class_is_one_of_mem0s(native: type[Any], gated: type[Any]) -> None:
    assert issubclass(gated, native)
    known = list(inspect.signature(native.__init__).parameters)
    assert list(inspect.signature(gated.__init__).parameters)[: len(known)] == known


def test_private_parts_that_the_gate_stands_on_are_there() -> None:
    """Named here so that a release that moves one fails in this file, not in a user's hands."""
    source = inspect.getsource(Memory._add_to_vector_store)
    assert "self.llm.generate_response" in source
    assert 'response_format={"type": "json_object"}' in source
    assert "self.vector_store.insert" in source
    assert "self.db.save_messages" in source
    assert "self.vector_store.insert" in inspect.getsource(Memory._create_memory)
    assert hasattr(Memory, "_upsert_entity")
