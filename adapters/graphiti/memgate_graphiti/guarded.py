"""Gates words on a path that has no receipt to return: a write is let through, or refused, and
what is deleted ends in the ledger."""

from __future__ import annotations

from datetime import datetime

from graphiti_core.nodes import EpisodeType

from memgate_core.errors import NotAllowedError
from memgate_core.model import Receipt, sha256_of
from memgate_graphiti.deleting import Deletions
from memgate_graphiti.desk import Desk
from memgate_graphiti.linking import direct_link, episode_links
from memgate_graphiti.reception import Reception
from memgate_graphiti.speech import Speech, speech_in


class HeldError(NotAllowedError):
    """The words of a write are held or refused, and nothing was written. `receipts` say why."""

    def __init__(self, what: str, receipts: tuple[Receipt, ...]) -> None:
        said = "; ".join(receipt.say() for receipt in receipts)
        super().__init__(
            f"{what} was not written: it rests on words that are held or refused",
            hint="see .receipts; `add_episode` and `add_triplet` say so in their result instead",
        )
        self.receipts, self.said = receipts, said


_STORED = {
    "edge": "MATCH ()-[x:RELATES_TO {uuid: $uuid}]->() RETURN x.fact AS text",
    "entity": "MATCH (x:Entity {uuid: $uuid}) RETURN x.summary AS text",
    "episode": "MATCH (x:Episodic {uuid: $uuid}) RETURN x.content AS text",
    "community": "MATCH (x:Community {uuid: $uuid}) RETURN x.name + '\n\n' + x.summary AS text",
    "saga": "MATCH (x:Saga {uuid: $uuid}) RETURN x.summary AS text",
}
"""Reads what words a thing of each kind has in the graph now."""


class Guard:
    """Takes the words of direct writes (the nodes and edges namespaces) through the gate."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.deletions = Deletions(desk)

    async def require(
        self,
        what: str,
        uuid: str,
        text: str | None,
        *,
        group_id: str,
        at: datetime,
        source: EpisodeType = EpisodeType.text,
    ) -> Reception | None:
        """Lets the words of one object pass whole; None when it says nothing new. When it is
        written, one of the `written` calls is due.

        The same object with the same words is the same message, so a retry is recognised.

        Raises:
            HeldError: some of the words are held or refused; they are recorded as such.
        """
        if text is None or not text.strip():
            return None
        speech = speech_in(text, source, self.desk.speakers, "user")
        message_id = f"{what}:{uuid}:{sha256_of(text)[:16]}"
        known = self.desk.off_loop(self._is_known, group_id, speech, message_id)
        if not await known and await self._stored(what, uuid, group_id) == text:
            return None
        reception = await self.desk.receive(
            speech, group_id=group_id, reference_time=at, message_id=message_id
        )
        if not reception.unchanged:
            await self.desk.settle(reception)
            raise HeldError(f"{what} {uuid}", reception.receipts)
        return reception

    async def written_edge(self, reception: Reception | None, uuid: str, fact: str) -> None:
        """Notes the facts that a written edge carries, so that it ends with them, and delivers."""
        if reception is None:
            return
        desk = self.desk
        link = await desk.off_loop(direct_link, desk.gate.ledger, desk.name, reception, uuid, fact)
        await desk.record(reception, {}, [(reception.turns[0].subject, link)])
        await desk.settle(reception)

    async def written_episode(self, reception: Reception | None, uuid: str) -> None:
        """As `written_edge`, for an episode's text."""
        if reception is None:
            return
        links = episode_links(self.desk.name, reception, uuid)
        await self.desk.record(reception, {}, links)
        await self.desk.settle(reception)

    async def written(self, reception: Reception | None) -> None:
        """Delivers what the words of a written summary led to."""
        if reception is not None:
            await self.desk.settle(reception)

    def _is_known(self, group_id: str, speech: Speech, message_id: str) -> bool:
        """True when an earlier try was recorded; it may have broken off before its links were."""
        actor = speech.said[0].actor if speech.said else None
        subject = self.desk.groups.subject(group_id, actor)
        return self.desk.gate.ledger.turn(subject, message_id) is not None

    async def _stored(self, what: str, uuid: str, group_id: str) -> str | None:
        graph = await self.desk.projection.group_graph(group_id)
        rows = await graph.rows(_STORED[what], uuid=uuid)
        return str(rows[0]["text"]) if rows else None
