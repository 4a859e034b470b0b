"""An episode taken through the gate: its turns and receipts, and the body that may go on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memgate_core.errors import InvalidTurnError
from memgate_core.gate import MemoryGate
from memgate_core.intake import identify
from memgate_core.model import HistoryTurn, Receipt, Role, Span, Subject, Turn
from memgate_graphiti.calls import Source
from memgate_graphiti.groups import Groups
from memgate_graphiti.speech import Said, Speakers, Speech


@dataclass(frozen=True)
class Reception:
    """What the gate said to one episode, triplet or node."""

    group_id: str
    turns: tuple[Turn, ...]
    receipts: tuple[Receipt, ...]
    body: str | None
    """What may be ingested; None when nothing may. The caller's own string where nothing is
    withheld."""

    @property
    def anchor(self) -> tuple[Subject, str]:
        """The turn under which the call's answer is recorded: the first."""
        return self.turns[0].subject, self.turns[0].message_id

    @property
    def message_ids(self) -> tuple[str, ...]:
        """Ids of all turns, in order."""
        return tuple(turn.message_id for turn in self.turns)

    @property
    def subjects(self) -> tuple[Subject, ...]:
        """Everybody who speaks, each once."""
        return tuple(dict.fromkeys(turn.subject for turn in self.turns))

    @property
    def minted(self) -> bool:
        """True when a retry of this call cannot be recognised."""
        return self.turns[0].minted

    @property
    def shadow(self) -> bool:
        """True when everything goes on as it came, and only a record is made."""
        return all(receipt.shadow for receipt in self.receipts)

    @property
    def unchanged(self) -> bool:
        """True when nothing was taken out of the words."""
        return not any(spans for spans in withheld_in(self.receipts))

    @property
    def closes(self) -> bool:
        """True when a delivery changes what current facts a reader sees."""
        return any(r.resolved or r.closings for r in self.receipts if not r.shadow)

    @property
    def events(self) -> bool:
        """True when there is something to deliver at all."""
        return any(
            judged.fact_id or judged.staged_id for r in self.receipts for judged in r.judged
        ) or any(receipt.resolved for receipt in self.receipts)

    def sources(self, speakers: Speakers) -> tuple[Source, ...]:
        """Whose words are in the body, for the judging of what is extracted from it."""
        return tuple(
            Source(
                subject=subject,
                message_ids=tuple(t.message_id for t in self.turns if t.subject == subject),
                names=_names(subject, self.turns, speakers),
            )
            for subject in self.subjects
        )


def receive(
    gate: MemoryGate,
    groups: Groups,
    speech: Speech,
    *,
    group_id: str,
    reference_time: datetime,
    message_id: str | None,
    actor: str | None = None,
    session: str | None = None,
    proposals: Sequence[Mapping[str, Any]] | None = None,
) -> Reception:
    """Takes every turn of a body through the gate, in order. Blocking.

    `actor` is whose words the subject's are, where several people share a group. `proposals` are
    what the caller extracted from the first turn. All turns are checked before the first is
    recorded.

    Raises:
        InvalidTurnError: malformed; nothing was recorded.
        ProtocolConflictError: the message id is known with other words.
        LedgerError: the call may be retried with the same message id.
    """
    turns = _turns(groups, speech, group_id, reference_time, message_id, actor, session)
    first, *rest = turns
    receipts = (
        gate.observe(first, proposals, carried=True),
        *(gate.observe(turn, carried=True) for turn in rest),
    )
    body = speech.without(withheld_in(receipts))
    return Reception(group_id, turns, receipts, body)


def withheld_in(receipts: Sequence[Receipt]) -> list[Sequence[Span]]:
    """The spans that each turn keeps back; none in shadow mode."""
    return [() if receipt.shadow else receipt.withheld for receipt in receipts]


def _turns(
    groups: Groups,
    speech: Speech,
    group_id: str,
    reference_time: datetime,
    message_id: str | None,
    actor: str | None,
    session: str | None,
) -> tuple[Turn, ...]:
    if not speech.said:
        raise InvalidTurnError("text", "is empty", hint="an episode needs words")
    return tuple(
        identify(
            said.text,
            subject=groups.subject(group_id, said.actor or actor),
            occurred_at=reference_time,
            message_id=_numbered(message_id, number),
            role=said.role,
            speaker=said.speaker,
            session=session,
            history=_before(speech.said, number),
        )
        for number, said in enumerate(speech.said)
    )


def _numbered(message_id: str | None, number: int) -> str | None:
    return f"{message_id}#{number}" if message_id is not None and number else message_id


def _before(said: Sequence[Said], number: int) -> list[HistoryTurn]:
    """The two turns before; those of an earlier call are the ledger's to find."""
    return [
        HistoryTurn(role=turn.role, content=turn.text) for turn in said[max(0, number - 2) : number]
    ]


def _names(subject: Subject, turns: Sequence[Turn], speakers: Speakers) -> frozenset[str]:
    spoken = [
        turn.speaker
        for turn in turns
        if turn.subject == subject and turn.speaker and turn.role is Role.USER
    ]
    own = [subject.actor] if subject.actor is not None else list(speakers.subject)
    return frozenset(name.casefold() for name in (*own, *spoken))
