"""The way of one episode: heard, claimed, ingested, recorded, delivered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from graphiti_core import Graphiti
from graphiti_core.edges import EntityEdge
from graphiti_core.graphiti import AddEpisodeResults

from memgate_core.model import Fact, FactStatus, Subject
from memgate_graphiti import episodes
from memgate_graphiti.answers import Claim
from memgate_graphiti.calls import ActiveCall
from memgate_graphiti.carriers import Ended
from memgate_graphiti.desk import Desk
from memgate_graphiti.heard import Heard, clear_lost, rewrite_stored
from memgate_graphiti.linking import Owned, edge_links, episode_links, owed
from memgate_graphiti.reception import Reception
from memgate_graphiti.results import GatedEpisodeResults, recorded, replayed, widened

CallGraphiti = Callable[[str], Awaitable[AddEpisodeResults]]
"""Graphiti's own call, with a body."""

LinksOf = Callable[[], list[Owned]]
"""What the ledger notes of a call. Blocking."""


async def ingest(
    graphiti: Graphiti, desk: Desk, heard: Heard, call_graphiti: CallGraphiti
) -> GatedEpisodeResults:
    """Takes one heard episode all the way.

    Raises:
        ModelFaultError, ProjectionError: Graphiti's call failed; the turn is recorded and the same
            call may be retried with the same message id.
    """
    if heard.reception.body is None:
        return await _not_ingested(graphiti, desk, heard)
    async with desk.traffic.ingesting(heard.reception.group_id):
        result = await _ingested(graphiti, desk, heard, call_graphiti)
    result.undelivered = await desk.settle(heard.reception)
    return result


async def _ingested(
    graphiti: Graphiti, desk: Desk, heard: Heard, call_graphiti: CallGraphiti
) -> GatedEpisodeResults:
    reception = heard.reception
    claim = await desk.begin(reception)
    if claim is Claim.DONE:
        kept = await desk.recorded(reception)
        return replayed(GatedEpisodeResults, kept or {}, reception.receipts)
    async with desk.calling(reception) as call:
        await make_ready(graphiti, desk, heard, claim)
        result = await call_graphiti(reception.body or "")
        links = await noted(
            desk, reception, call, result, partial(links_of, desk, reception, call, result)
        )
    await desk.record(reception, recorded(result), links)
    return widened(GatedEpisodeResults, result, reception.receipts)


async def noted(
    desk: Desk, reception: Reception, call: ActiveCall, result: Any, links_of: LinksOf
) -> list[Owned]:
    """Sees to what Graphiti's call left undone, and returns what the ledger is to note of it.

    Facts that the extraction said, and the judging could not trace to its words, are written.
    """
    carriers, writer, ledger = desk.projection.carriers, desk.projection.writer, desk.gate.ledger

    def looked_up() -> tuple[list[Ended], list[Owned], list[tuple[Subject, Fact]]]:
        links = links_of()
        ended = carriers.ended(reception.group_id, result.edges)
        return ended, links, owed(ledger, reception, call, links)

    ended, links, facts = await desk.off_loop(looked_up)
    await _end_again(desk, reception.group_id, ended)
    if facts:
        graph = await desk.projection.group_graph(reception.group_id)
        links += [(subject, await writer.write(graph, fact, subject)) for subject, fact in facts]
    return links


async def mend(desk: Desk, group_id: str, edges: Sequence[EntityEdge]) -> None:
    """Ends edges again that Graphiti saved as it had read them, though their facts have ended
    meanwhile: another process may deliver while this one ingests."""
    ended = await desk.off_loop(desk.projection.carriers.ended, group_id, edges)
    await _end_again(desk, group_id, ended)


async def _end_again(desk: Desk, group_id: str, ended: Sequence[Ended]) -> None:
    if not ended:
        return
    graph = await desk.projection.group_graph(group_id)
    for edge, fact in ended:
        nodes = (edge.source_node_uuid, edge.target_node_uuid)
        await graph.untell(nodes, edge.fact)
        if fact.status is FactStatus.SUPERSEDED:
            at, recorded_at = fact.valid_to or fact.recorded_at, fact.closed_at or fact.recorded_at
            await graph.close_edge(edge.uuid, at=at, recorded=recorded_at)
        else:
            await graph.delete_edge(edge.uuid)


async def make_ready(graphiti: Graphiti, desk: Desk, heard: Heard, claim: Claim) -> None:
    """Brings the graph to the state that the call expects: no rest of an earlier try, and no
    withheld words in an episode that is stored."""
    if claim is not Claim.AGAIN and heard.incoming.stored is None:
        return
    graph = await desk.projection.group_graph(heard.reception.group_id)
    if claim is Claim.AGAIN:
        await clear_lost(desk, graph, heard, partial(episodes.remove, graphiti))
    await rewrite_stored(graph, heard)


def links_of(desk: Desk, reception: Reception, call: ActiveCall, result: Any) -> list[Owned]:
    """What the ledger notes of an ingested episode. Blocking."""
    uuid = result.episode.uuid
    made = [edge for edge in result.edges if uuid in edge.episodes]
    edges = edge_links(desk.gate.ledger, desk.name, reception, call, made)
    return [*edges, *episode_links(desk.name, reception, uuid)]


async def _not_ingested(graphiti: Graphiti, desk: Desk, heard: Heard) -> GatedEpisodeResults:
    if heard.incoming.stored is not None:
        graph = await desk.projection.group_graph(heard.reception.group_id)
        await episodes.remove(graphiti, graph, heard.incoming.stored)
    undelivered = await desk.settle(heard.reception)
    nothing: dict[str, Any] = {
        part: [] for part in ("episodic_edges", "nodes", "edges", "communities", "community_edges")
    }
    return GatedEpisodeResults(
        episode=heard.unstored(desk.name),
        **nothing,
        receipts=list(heard.reception.receipts),
        ingested=False,
        replayed=all(receipt.replayed for receipt in heard.reception.receipts),
        undelivered=undelivered,
    )
