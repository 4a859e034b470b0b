"""The way of one episode: heard, claimed, ingested, recorded, delivered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from graphiti_core import Graphiti
from graphiti_core.graphiti import AddEpisodeResults

from memgate_core.model import NativeLink, Subject
from memgate_graphiti import episodes
from memgate_graphiti.answers import Claim
from memgate_graphiti.calls import ActiveCall
from memgate_graphiti.desk import Desk
from memgate_graphiti.heard import Heard, clear_lost, rewrite_stored
from memgate_graphiti.linking import edge_links, episode_links
from memgate_graphiti.reception import Reception
from memgate_graphiti.results import GatedEpisodeResults, recorded, replayed, widened

CallGraphiti = Callable[[str], Awaitable[AddEpisodeResults]]
"""Graphiti's own call, with a body."""


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
    claim = await desk.begin(heard.reception)
    if claim is Claim.DONE:
        return await _once_more(desk, heard.reception)
    async with desk.calling(heard.reception) as call:
        await make_ready(graphiti, desk, heard, claim)
        result = await call_graphiti(heard.reception.body)
    links = await desk.gate.off_loop(links_of, desk, heard.reception, call, result)
    undelivered = await desk.conclude(heard.reception, recorded(result), links)
    return widened(GatedEpisodeResults, result, heard.reception.receipts, undelivered=undelivered)


async def make_ready(graphiti: Graphiti, desk: Desk, heard: Heard, claim: Claim) -> None:
    """Brings the graph to the state that the call expects: no rest of an earlier try, and no
    withheld words in an episode that is stored."""
    if claim is not Claim.AGAIN and heard.incoming.stored is None:
        return
    graph = await desk.projection.group_graph(heard.reception.group_id)
    if claim is Claim.AGAIN:
        await clear_lost(desk, graph, heard, partial(episodes.remove, graphiti))
    await rewrite_stored(graph, heard)


def links_of(
    desk: Desk, reception: Reception, call: ActiveCall, result: Any
) -> list[tuple[Subject, NativeLink]]:
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


async def _once_more(desk: Desk, reception: Reception) -> GatedEpisodeResults:
    """The first call's result; what is still due is tried again."""
    kept = await desk.recorded(reception)
    await desk.settle(reception)
    return replayed(GatedEpisodeResults, kept or {}, reception.receipts)
