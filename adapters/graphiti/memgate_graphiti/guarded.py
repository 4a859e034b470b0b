"""Gates words on a path that has no receipt to return: a write is let through, or refused."""

from __future__ import annotations

from datetime import datetime

from graphiti_core.nodes import EpisodeType

from memgate_core.errors import NotAllowedError
from memgate_core.model import Receipt, sha256_of
from memgate_graphiti.desk import Desk
from memgate_graphiti.reception import Reception
from memgate_graphiti.speech import speech_in


class HeldError(NotAllowedError):
    """The words of a write are held or refused, and nothing was written. `receipts` say why."""

    def __init__(self, what: str, receipts: tuple[Receipt, ...]) -> None:
        said = "; ".join(receipt.say() for receipt in receipts)
        super().__init__(
            f"{what} was not written: it rests on words that are held or refused",
            hint="see .receipts; `add_episode` and `add_triplet` say so in their result instead",
        )
        self.receipts, self.said = receipts, said


class Guard:
    """Takes the words of direct writes (the nodes and edges namespaces) through the gate."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

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
        """Lets the words of one object pass whole; None when it has none.

        The same object with the same words is the same message, so a retry is recognised.

        Raises:
            HeldError: some of the words are held or refused; they are recorded as such.
        """
        if text is None or not text.strip():
            return None
        reception = await self.desk.receive(
            speech_in(text, source, self.desk.speakers, "user"),
            group_id=group_id,
            reference_time=at,
            message_id=f"{what}:{uuid}:{sha256_of(text)[:16]}",
        )
        await self.desk.settle(reception)
        if not reception.unchanged:
            raise HeldError(f"{what} {uuid}", reception.receipts)
        return reception
