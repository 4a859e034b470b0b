"""Statements that a model is asked about, and whether the profile should change on them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator

from pydantic import BaseModel

from evaluation.plans.format import Conversation, Step
from evaluation.statements.format import StatementLine
from memgate_core.model import HistoryTurn, Role, Statement

UPDATES = ("completed_event", "correction")
"""Evidence types on which the profile should change: those that license revising what holds now
(paper A.6)."""

_HELD = ("plan", "reminder")
_TOLD = {"came_true": True, "completed": True, "corrected": True, "abandoned": False}


class Asked(BaseModel):
    """One statement. `cluster` is what it shares with others for intervals."""

    id: str
    cluster: str
    group: str
    """The labelled evidence type, or the turn's part in its conversation."""
    statement: Statement
    updates: bool
    """True when the profile should change on it."""


def of_conversations(conversations: Iterable[Conversation]) -> Iterator[Asked]:
    """Turns in which a plan is voiced or settled. First mentions of a state are left out: whether
    they change the profile depends on what it held before."""
    for conversation in conversations:
        before: list[HistoryTurn] = []
        for step in conversation.steps():
            found = _part(conversation, step)
            if found is not None:
                yield _asked(conversation, step, before[-2:], *found)
            before.append(HistoryTurn(role=Role(step.turn.role), content=step.turn.content))


def _part(conversation: Conversation, step: Step) -> tuple[str, bool] | None:
    mark, outcome = step.turn.mark, conversation.outcome
    if not step.is_user or mark is None or mark == "state":
        return None
    if mark in _HELD:
        return mark, False
    return (f"outcome, {outcome}", _TOLD[outcome]) if outcome in _TOLD else None


def _asked(
    conversation: Conversation, step: Step, before: list[HistoryTurn], group: str, updates: bool
) -> Asked:
    words, message = _words(conversation, step), step.turn.content
    return Asked(
        id=f"{conversation.id}#{step.index}",
        cluster=conversation.id,
        group=group,
        statement=Statement(
            text=words,
            message=message,
            role=Role.USER,
            history=tuple(before),
            start=message.index(words),
        ),
        updates=updates,
    )


def _words(conversation: Conversation, step: Step) -> str:
    """The words that the recorded extraction on the field rests on, else the whole message."""
    for found in step.recorded("literal"):
        on_field = found.attribute == conversation.field.attribute
        if on_field and found.span and found.span in step.turn.content:
            return found.span
    return step.turn.content


def of_lines(lines: Iterable[StatementLine]) -> Iterator[Asked]:
    """Labelled statements; those without a label are passed over."""
    for line in lines:
        if line.label is not None:
            yield Asked(
                id=line.id,
                cluster=line.id,
                group=line.label,
                statement=line.statement(),
                updates=line.label in UPDATES,
            )


def drawn(found: Iterable[Asked], count: int, *, seed: int = 1) -> list[Asked]:
    """At most `count` of them, drawn evenly in one pass, in their order."""
    source = random.Random(seed)
    kept: list[tuple[int, Asked]] = []
    for number, one in enumerate(found):
        if len(kept) < count:
            kept.append((number, one))
        elif (place := source.randint(0, number)) < count:
            kept[place] = (number, one)
    return [one for _, one in sorted(kept, key=lambda pair: pair[0])]
