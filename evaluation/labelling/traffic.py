"""Statements of one's own traffic, with what the gate decided, ready to be labelled by people."""

from __future__ import annotations

import random
from collections.abc import Iterator

from evaluation.statements.format import HistoryLine, Label, StatementLine
from memgate_core.ledger.protocol import Ledger, TurnRecord
from memgate_core.model import Judged, Role


class TrafficLine(StatementLine):
    """A statement of recorded traffic. `decision` and `said` are the gate's; `label` a person's."""

    decision: str | None = None
    said: Label | None = None
    keep: bool | None = None
    """A person's word: False when nothing of it may stand in memory as the user's fact."""
    labelled_by: str | None = None


def sample(ledger: Ledger, *, tenant: str, count: int, seed: int) -> list[TrafficLine]:
    """`count` statements drawn evenly from everything recorded, in one pass over the ledger.

    The words are the users' own: treat the file as you treat the ledger.
    """
    source = random.Random(seed)
    drawn: list[TrafficLine] = []
    for number, line in enumerate(_everything(ledger, tenant)):
        if len(drawn) < count:
            drawn.append(line)
        elif (place := source.randint(0, number)) < count:
            drawn[place] = line
    source.shuffle(drawn)
    return drawn


def _everything(ledger: Ledger, tenant: str) -> Iterator[TrafficLine]:
    for subject in ledger.subjects(tenant):
        before: list[TurnRecord] = []
        for turn in ledger.turns(subject):
            if turn.role is Role.USER:
                yield from (_line(turn, judged, before[-2:]) for judged in turn.receipt.judged)
            before = [*before[-1:], turn]


def _line(turn: TurnRecord, judged: Judged, before: list[TurnRecord]) -> TrafficLine:
    return TrafficLine(
        id=judged.proposal_id,
        text=judged.candidate.words,
        history=tuple(HistoryLine(role=t.role, content=t.text) for t in before),
        message=turn.text,
        role=turn.role,
        decision=str(judged.decision.decision),
        said=judged.judgement.evidence_type.value,
    )
