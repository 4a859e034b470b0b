"""Every public write of Graphiti is covered or known to carry no words; a new one fails here."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from graphiti_core import Graphiti
from graphiti_core.namespaces import edges as edge_namespaces
from graphiti_core.namespaces import nodes as node_namespaces

from memgate_graphiti import GatedGraphiti, namespaces
from memgate_graphiti.reads import ScopedReads

GATED = {"add_episode", "add_episode_bulk", "add_triplet", "remove_episode", "close"}
SCOPED = {"search", "search_", "retrieve_episodes"}
PASSED_ON = {
    "build_indices_and_constraints",  # no words
    "build_communities",  # summarises entities, which hold no held words
    "summarize_saga",  # summarises episodes, which hold no held words
    "get_nodes_and_edges_by_episode",
    "token_tracker",
}
WRITES = {"save", "save_bulk", "delete", "delete_by_uuids"}
NAMESPACES = {
    "EntityNodeNamespace": WRITES | {"delete_by_group_id"},
    "EpisodeNodeNamespace": WRITES | {"delete_by_group_id"},
    "CommunityNodeNamespace": WRITES | {"delete_by_group_id"},
    "SagaNodeNamespace": WRITES | {"delete_by_group_id"},
    "EntityEdgeNamespace": WRITES,
}
WORDLESS = {
    "EpisodicEdgeNamespace",
    "CommunityEdgeNamespace",
    "HasEpisodeEdgeNamespace",
    "NextEpisodeEdgeNamespace",
}
READS = ("get_", "load_", "retrieve_")


def test_every_public_method_is_known() -> None:
    public = {name for name in vars(Graphiti) if not name.startswith("_")}
    assert public == GATED | SCOPED | PASSED_ON


@pytest.mark.parametrize("name", sorted(GATED | SCOPED))
def test_signatures_are_graphitis_own_with_keyword_only_additions(name: str) -> None:
    own = inspect.signature(getattr(GatedGraphiti, name)).parameters
    theirs = inspect.signature(getattr(Graphiti, name)).parameters
    assert list(own)[: len(theirs)] == list(theirs)
    for parameter, wanted in theirs.items():
        assert own[parameter].default == wanted.default
        assert own[parameter].kind == wanted.kind
    added = list(own.values())[len(theirs) :]
    assert all(p.kind is p.KEYWORD_ONLY and p.default is not p.empty for p in added)


@pytest.mark.parametrize("name", sorted(GATED))
def test_gated_methods_are_overridden(name: str) -> None:
    assert name in vars(GatedGraphiti)


@pytest.mark.parametrize("name", sorted(SCOPED))
def test_reads_are_scoped(name: str) -> None:
    assert name in vars(ScopedReads)
    assert getattr(GatedGraphiti, name) is getattr(ScopedReads, name)


def test_every_namespace_and_its_writes_are_known() -> None:
    found: dict[str, Any] = {
        name: kind
        for module in (node_namespaces, edge_namespaces)
        for name, kind in vars(module).items()
        if name.endswith("Namespace") and inspect.isclass(kind)
    }
    containers = {"NodeNamespace", "EdgeNamespace"}
    assert set(found) == set(NAMESPACES) | WORDLESS | containers
    for name, writes in NAMESPACES.items():
        methods = {m for m in vars(found[name]) if not m.startswith("_")}
        assert {m for m in methods if not m.startswith(READS)} == writes
        gated = next(
            kind
            for kind in vars(namespaces).values()
            if inspect.isclass(kind)
            and issubclass(kind, found[name])
            and kind.__module__ == namespaces.__name__
        )
        assert writes <= {name for kind in _ours(gated) for name in vars(kind)}
        for write in writes:
            theirs = inspect.signature(getattr(found[name], write)).parameters
            assert list(inspect.signature(getattr(gated, write)).parameters) == list(theirs)


def _ours(kind: type) -> list[type]:
    return [one for one in kind.__mro__ if one.__module__ == namespaces.__name__]
