"""The way of many episodes in one call: each is judged, those with words left go on together."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from graphiti_core import Graphiti
from graphiti_core.graphiti import AddBulkEpisodeResults
from graphiti_core.utils.bulk_utils import RawEpisode

from memgate_core.errors import InvalidTurnError
from memgate_core.model import NativeLink, Subject
from memgate_graphiti import episodes
from memgate_graphiti.answers import Claim
from memgate_graphiti.calls import ActiveCall
from memgate_graphiti.desk import Desk
from memgate_graphiti.heard import Heard
from memgate_graphiti.ingesting import make_ready, noted
from memgate_graphiti.linking import edge_links, episode_links
from memgate_graphiti.reception import Reception
from memgate_graphiti.results import GatedBulkEpisodeResults, recorded, replayed, widened

CallGraphiti = Callable[[list[RawEpisode]], Awaitable[AddBulkEpisodeResults]]
"""Graphiti's own call, with the episodes that go on."""


def check_ids(message_ids: Sequence[str] | None, count: int) -> list[str | None]:
    """One message id an episode.

    Raises:
        InvalidTurnError: another number of ids than of episodes, or one of them twice.
    """
    if message_ids is None:
        return [None] * count
    if len(message_ids) != count or len(set(message_ids)) != count:
        raise InvalidTurnError(
            "message_id", f"{count} episodes need {count} different ids, not {len(message_ids)}"
        )
    return list(message_ids)


async def ingest(
    graphiti: Graphiti,
    desk: Desk,
    heard: Sequence[Heard],
    given: Sequence[RawEpisode],
    call_graphiti: CallGraphiti,
) -> GatedBulkEpisodeResults:
    """Takes heard episodes all the way, as one call under the first one's message id.

    Raises:
        ModelFaultError, ProjectionError: as `memgate_graphiti.ingesting.ingest`.
    """
    whole = _together([one.reception for one in heard])
    going = [
        (one, raw) for one, raw in zip(heard, given, strict=True) if one.reception.body is not None
    ]
    await _remove_held(graphiti, desk, heard)
    if not going:
        return await _nothing(desk, whole)
    async with desk.traffic.ingesting(whole.group_id):
        result = await _ingested(graphiti, desk, whole, going, call_graphiti)
    result.undelivered = await desk.settle(whole)
    return result


async def _ingested(
    graphiti: Graphiti,
    desk: Desk,
    whole: Reception,
    going: Sequence[tuple[Heard, RawEpisode]],
    call_graphiti: CallGraphiti,
) -> GatedBulkEpisodeResults:
    claim = await desk.begin(whole)
    if claim is Claim.DONE:
        kept = await desk.recorded(whole)
        return replayed(GatedBulkEpisodeResults, kept or {}, whole.receipts)
    async with desk.calling(whole) as call:
        for one, _ in going:
            await make_ready(graphiti, desk, one, claim)
        result = await call_graphiti([_raw(one, raw) for one, raw in going])
        found = partial(_links, desk, [one for one, _ in going], whole, call, result)
        links = await noted(desk, whole, call, result, found)
    await desk.record(whole, recorded(result), links)
    return widened(GatedBulkEpisodeResults, result, whole.receipts)


def _together(receptions: Sequence[Reception]) -> Reception:
    """All turns of a call as one reception, whose answer stands under its first turn."""
    return Reception(
        group_id=receptions[0].group_id,
        turns=tuple(turn for one in receptions for turn in one.turns),
        receipts=tuple(receipt for one in receptions for receipt in one.receipts),
        body="\n".join(one.body for one in receptions if one.body is not None) or None,
    )


def _raw(one: Heard, given: RawEpisode) -> RawEpisode:
    """The caller's own object where nothing is withheld."""
    if one.reception.unchanged or given.uuid is not None:
        return given
    came = one.incoming
    told = {"name": came.name, "source_description": came.source_description}
    return given.model_copy(update={**told, "content": one.reception.body})


async def _remove_held(graphiti: Graphiti, desk: Desk, heard: Sequence[Heard]) -> None:
    for one in heard:
        if one.reception.body is None and one.incoming.stored is not None:
            graph = await desk.projection.group_graph(one.reception.group_id)
            await episodes.remove(graphiti, graph, one.incoming.stored)


def _links(
    desk: Desk, going: Sequence[Heard], whole: Reception, call: ActiveCall, result: Any
) -> list[tuple[Subject, NativeLink]]:
    uuids = [episode.uuid for episode in result.episodes]
    made = [edge for edge in result.edges if set(edge.episodes) & set(uuids)]
    links = edge_links(desk.gate.ledger, desk.name, whole, call, made)
    for one, uuid in zip(going, uuids, strict=True):
        links += episode_links(desk.name, one.reception, uuid)
    return links


async def _nothing(desk: Desk, whole: Reception) -> GatedBulkEpisodeResults:
    undelivered = await desk.settle(whole)
    empty: dict[str, Any] = {name: [] for name in AddBulkEpisodeResults.model_fields}
    return GatedBulkEpisodeResults(
        **empty, receipts=list(whole.receipts), ingested=False, undelivered=undelivered
    )
