"""What Graphiti derives from texts: summaries of entities, communities and sagas.

When a fact is taken away they may still tell it: a model wrote them, or the caller did. What is
searched for are whole statements that nothing else in the group says; a single word ("Leeds", as an
answer) also stands in what is true of others.
"""

from __future__ import annotations

from collections.abc import Sequence

from memgate_core.forwarding import forwardable
from memgate_graphiti.graph import Graph, Row, says
from memgate_graphiti.payloads import plain
from memgate_graphiti.places import places_of

_OF_GROUP = "WHERE x.group_id = $group_id RETURN x.uuid AS uuid"
_QUERIES = {
    "entity": f"MATCH (x:Entity) {_OF_GROUP}, x.summary AS text",
    "community": f"MATCH (x:Community) {_OF_GROUP}, x.name + ' ' + x.summary AS text",
    "saga": f"MATCH (x:Saga) {_OF_GROUP}, x.summary AS text",
}
_TAKE_OUT = {
    "entity": "MATCH (x:Entity {uuid: $uuid}) SET x.summary = $rest",
    # `build_communities` and `summarize_saga` make them anew
    "community": "MATCH (x:Community {uuid: $uuid}) DETACH DELETE x",
    "saga": "MATCH (x:Saga {uuid: $uuid}) SET x.summary = '', x.last_summarized_at = NULL",
}
_FACTS = "MATCH ()-[x:RELATES_TO]->() WHERE x.group_id = $group_id RETURN DISTINCT x.fact AS fact"


async def telling(graph: Graph, texts: Sequence[str]) -> list[tuple[str, str]]:
    """(kind, uuid) of what still tells any of the texts."""
    return [
        (kind, str(row["uuid"])) for kind, row in await _found(graph, await _gone(graph, texts))
    ]


async def take_out(graph: Graph, texts: Sequence[str]) -> None:
    """Takes texts that were taken away out of everything that was derived from them."""
    gone = await _gone(graph, texts)
    for kind, row in await _found(graph, gone):
        wanted = {"rest": _without(str(row["text"]), gone)} if kind == "entity" else {}
        await graph.rows(_TAKE_OUT[kind], uuid=row["uuid"], **wanted)


async def _gone(graph: Graph, texts: Sequence[str]) -> list[str]:
    """Those of the texts that are statements and that no edge of the group says any more."""
    told = [text for text in dict.fromkeys(texts) if len(text.split()) > 1]
    if not told:
        return []
    rows = await graph.rows(_FACTS, group_id=graph.group_id)
    alive = {plain(str(row["fact"])) for row in rows}
    return [text for text in told if plain(text) not in alive]


async def _found(graph: Graph, gone: Sequence[str]) -> list[tuple[str, Row]]:
    return [
        (kind, row)
        for kind, query in (_QUERIES.items() if gone else ())
        for row in await graph.rows(query, group_id=graph.group_id)
        if any(says(str(row["text"] or ""), text) for text in gone)
    ]


def _without(summary: str, gone: Sequence[str]) -> str:
    """A summary without these texts, line by line: Graphiti joins facts so."""
    lines = []
    for line in summary.split("\n"):
        spans = [span for text in gone for span in places_of(line, text)]
        lines.append(forwardable(line, spans) or "")
    return "\n".join(line for line in lines if line)
