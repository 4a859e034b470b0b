"""What every pipeline is: it takes a conversation's turns and says what memory then holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from evaluation.fields import registered
from evaluation.plans.format import Conversation, Step, Style
from evaluation.plans.trace import Final, FinalTrace, Trace, TurnTrace
from memgate_core.intake import identify
from memgate_core.model import FieldSpec, HistoryTurn, Subject, Turn


class Pipeline(Protocol):
    """One conversation's memory under one setting."""

    def take(self, step: Step) -> TurnTrace:
        """Takes a turn; what it returns is written down for user turns."""
        ...

    def final(self) -> Final:
        """What a read answers now that the conversation is over."""
        ...

    def close(self) -> None:
        """Lets go of what the conversation needed."""
        ...


def follow(conversation: Conversation, pipeline: Pipeline) -> Iterator[TurnTrace | FinalTrace]:
    """Walks a conversation through a pipeline: a line a user turn, and the last one."""
    try:
        for step in conversation.steps():
            line = pipeline.take(step)
            if step.is_user:
                yield line
        yield FinalTrace(id=conversation.id, final=pipeline.final())
    finally:
        pipeline.close()


def trace_of(conversation: Conversation, pipeline: Pipeline) -> Trace:
    """The whole trace at once, for scoring."""
    lines = list(follow(conversation, pipeline))
    final = lines[-1]
    assert isinstance(final, FinalTrace)
    return Trace(turns=[line for line in lines if isinstance(line, TurnTrace)], final=final)


def spec_of(conversation: Conversation) -> FieldSpec:
    """The conversation's field as it is registered."""
    return registered(conversation.field.attribute, conversation.field.description)


def subject_of(conversation: Conversation) -> Subject:
    """A subject of its own for each conversation."""
    return Subject(tenant="evaluation", user_id=conversation.id)


def message_id_of(conversation: Conversation, step: Step) -> str:
    """Stable, so that a second run over the same ledger changes nothing."""
    return f"{conversation.id}#{step.index}"


def turn_of(conversation: Conversation, step: Step, history: Sequence[HistoryTurn] = ()) -> Turn:
    """The step as the gate takes it: no label in it, its session's own date as its time."""
    return identify(
        step.turn.content,
        subject=subject_of(conversation),
        occurred_at=step.date,
        message_id=message_id_of(conversation, step),
        role=step.turn.role,
        session=f"{conversation.id}/{step.session}",
        history=history,
    )


def proposals_of(step: Step, style: Style) -> list[dict[str, Any]]:
    """Recorded extractions in the form that the gate takes proposals in."""
    return [
        {
            "entity": found.entity,
            "attribute": found.attribute,
            "value": found.value,
            "text": found.text,
            "span": found.span,
        }
        for found in step.recorded(style)
    ]
