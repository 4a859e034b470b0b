"""An episode that came in: what the gate said to it, and how it was to be stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from graphiti_core.nodes import EpisodeType, EpisodicNode, SagaNode
from graphiti_core.utils.datetime_utils import utc_now

from memgate_core.errors import InvalidTurnError
from memgate_core.forwarding import forwardable
from memgate_graphiti import episodes, lost, payloads
from memgate_graphiti.desk import Desk
from memgate_graphiti.graph import Graph, says
from memgate_graphiti.places import places_of
from memgate_graphiti.reception import Reception, withheld_in
from memgate_graphiti.speech import speech_in

_MARKS = " \t\n.,;:!?…"
_NAMELESS = "episode"
"""The name of an episode whose own name was made of words that are kept back."""


@dataclass(frozen=True)
class Incoming:
    """An episode as the caller gave it, or as it lies in the graph already."""

    name: str
    body: str
    source: EpisodeType
    source_description: str
    reference_time: datetime
    stored: str | None = None
    """The uuid of an episode that is stored and to be processed again."""


@dataclass(frozen=True)
class Heard:
    """An episode after the gate."""

    incoming: Incoming
    reception: Reception

    def unstored(self, projection: str) -> EpisodicNode:
        """The episode that was not ingested, as results show it: without words."""
        group_id, (_, message_id) = self.reception.group_id, self.reception.anchor
        return EpisodicNode(
            uuid=payloads.episode_uuid(projection, group_id, message_id),
            name=self.incoming.name,
            group_id=group_id,
            labels=[],
            source=self.incoming.source,
            source_description=self.incoming.source_description,
            content="",
            created_at=utc_now(),
            valid_at=self.incoming.reference_time,
        )


async def incoming_of(
    desk: Desk,
    group_id: str,
    *,
    name: str,
    body: str,
    source: EpisodeType,
    source_description: str,
    reference_time: datetime,
    uuid: str | None,
) -> Incoming:
    """The episode that a call means. With a `uuid` Graphiti processes the stored episode and
    ignores the body (verified: tests/graphiti/test_host_facts.py), so that is what is judged.

    Raises:
        NodeNotFoundError: Graphiti's own, when no episode has the uuid.
        InvalidTurnError: the stored episode has no text to judge.
    """
    if uuid is None:
        return Incoming(name, body, source, source_description, reference_time)
    stored = await EpisodicNode.get_by_uuid(desk.groups.driver(group_id), uuid)
    if not stored.content.strip():
        raise InvalidTurnError("text", "is empty in the stored episode", hint="give the words anew")
    return Incoming(
        stored.name, stored.content, stored.source, stored.source_description, stored.valid_at, uuid
    )


async def hear(
    desk: Desk,
    group_id: str,
    incoming: Incoming,
    *,
    message_id: str | None,
    user_id: str | None,
    role: str,
    saga: str | SagaNode | None,
) -> Heard:
    """Takes an episode through the gate.

    Raises:
        InvalidTurnError: malformed; nothing was recorded. LedgerError, ProtocolConflictError: as
            `memgate_graphiti.reception.receive`.
    """
    again = f"episode:{incoming.stored}" if incoming.stored is not None else None
    reception = await desk.receive(
        speech_in(incoming.body, incoming.source, desk.speakers, role),
        group_id=group_id,
        reference_time=incoming.reference_time,
        message_id=message_id or again,
        actor=user_id,
        session=saga.name if isinstance(saga, SagaNode) else saga,
    )
    return Heard(_labelled(incoming, reception), reception)


def _labelled(incoming: Incoming, reception: Reception) -> Incoming:
    """The episode with its name and description free of words that are kept back: they are stored
    beside its text, and Graphiti's prompts show the description."""
    texts = [
        span.of(turn.text).strip(_MARKS)
        for turn, spans in zip(reception.turns, withheld_in(reception.receipts), strict=True)
        for span in spans
    ]
    if incoming.stored is not None or not texts:
        return incoming
    return replace(
        incoming,
        name=_without(incoming.name, texts) or _NAMELESS,
        source_description=_without(incoming.source_description, texts),
    )


def _without(label: str, texts: Sequence[str]) -> str:
    beginning = label.strip(_MARKS)  # names are often the first words of the message
    if len(beginning.split()) > 1 and any(says(text, beginning) for text in texts):
        return ""
    return forwardable(label, [span for text in texts for span in places_of(label, text)]) or ""


async def clear_lost(desk: Desk, graph: Graph, heard: Heard, remove: episodes.Remove) -> None:
    """Takes out what an earlier try of the same call stored before it broke off."""
    body, came = heard.reception.body, heard.incoming
    if body is None or came.stored is not None:
        return
    same = await lost.candidates(graph, came.name, body, came.reference_time)
    known = desk.gate.ledger, desk.name, graph.group_id
    for uuid in await desk.off_loop(lost.unknown, *known, same) if same else ():
        await remove(graph, uuid)


async def rewrite_stored(graph: Graph, heard: Heard) -> None:
    """Takes withheld words out of an episode that is stored already."""
    came, body = heard.incoming, heard.reception.body
    if came.stored is not None and body is not None and body != came.body:
        await episodes.set_content(graph, came.stored, body)
