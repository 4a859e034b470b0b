"""The way of one triplet: its fact is judged as a statement, its nodes' summaries with it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

from graphiti_core.edges import EntityEdge
from graphiti_core.graphiti import AddTripletResults
from graphiti_core.nodes import EntityNode, EpisodeType

from memgate_core.forwarding import forwardable
from memgate_core.model import USER_ENTITY, NativeLink, Role, Subject
from memgate_graphiti.answers import Claim
from memgate_graphiti.desk import Desk
from memgate_graphiti.ingesting import mend
from memgate_graphiti.linking import direct_link
from memgate_graphiti.payloads import plain
from memgate_graphiti.reception import Reception, withheld_in
from memgate_graphiti.results import GatedTripletResults, recorded, replayed, widened
from memgate_graphiti.speech import Said, Speech

CallGraphiti = Callable[[EntityNode, EntityNode], Awaitable[AddTripletResults]]
"""Graphiti's own call, with the two nodes."""


async def hear(
    desk: Desk,
    source: EntityNode,
    edge: EntityEdge,
    target: EntityNode,
    *,
    message_id: str | None,
    user_id: str | None,
    reference_time: datetime,
) -> Reception:
    """Takes a triplet through the gate: the fact first, then the summaries that came with it."""
    said = [Said(edge.fact, Role.USER)]
    said += [Said(n.summary, Role.USER) for n in (source, target) if n.summary.strip()]
    names = {plain(name) for name in ((user_id,) if user_id else desk.speakers.subject)}
    proposal = {
        "entity": USER_ENTITY if plain(source.name) in names else source.name,
        "attribute": edge.name.lower(),
        "value": target.name,
        "text": edge.fact,
        "span": edge.fact,
    }
    return await desk.receive(
        Speech(edge.fact, EpisodeType.fact_triple, tuple(said)),
        group_id=desk.groups.named(edge.group_id),
        reference_time=reference_time,
        message_id=message_id,
        actor=user_id,
        proposals=[proposal],
    )


async def write(
    desk: Desk,
    reception: Reception,
    source: EntityNode,
    target: EntityNode,
    call_graphiti: CallGraphiti,
) -> GatedTripletResults:
    """Writes a triplet whose fact may stand; one that is held or refused is not written at all.

    Raises:
        ModelFaultError, ProjectionError: as `memgate_graphiti.ingesting.ingest`.
    """
    if withheld_in(reception.receipts)[0]:
        undelivered = await desk.settle(reception)
        return GatedTripletResults(
            nodes=[],
            edges=[],
            receipts=list(reception.receipts),
            ingested=False,
            undelivered=undelivered,
        )
    async with desk.traffic.ingesting(reception.group_id):
        result = await _written(desk, reception, source, target, call_graphiti)
    result.undelivered = await desk.settle(reception)
    return result


async def _written(
    desk: Desk,
    reception: Reception,
    source: EntityNode,
    target: EntityNode,
    call_graphiti: CallGraphiti,
) -> GatedTripletResults:
    if await desk.begin(reception) is Claim.DONE:
        kept = await desk.recorded(reception)
        return replayed(GatedTripletResults, kept or {}, reception.receipts)
    async with desk.calling(reception):
        result = await call_graphiti(*_sifted(reception, source, target))
        await mend(desk, reception.group_id, result.edges)
    links = await desk.off_loop(_links, desk, reception, result)
    await desk.record(reception, recorded(result), links)
    return widened(GatedTripletResults, result, reception.receipts)


def _sifted(reception: Reception, *nodes: EntityNode) -> list[EntityNode]:
    """The nodes with what may stand of their summaries; the caller's own where that is all."""
    spans = iter(withheld_in(reception.receipts)[1:])
    sifted = []
    for node in nodes:
        held = next(spans) if node.summary.strip() else ()
        summary = forwardable(node.summary, held) or ""
        sifted.append(node.model_copy(update={"summary": summary}) if held else node)
    return sifted


def _links(desk: Desk, reception: Reception, result: Any) -> list[tuple[Subject, NativeLink]]:
    edge, ledger = result.edges[0], desk.gate.ledger
    link = direct_link(ledger, desk.name, reception, edge.uuid, edge.fact)
    return [(reception.turns[0].subject, link)]
