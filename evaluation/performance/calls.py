"""How often each backend asks its model: calls a user message, over the project's conversations."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from evaluation.performance.measured import Measured
from evaluation.performance.standing_model import StandInModel, stand_in_decision_model
from evaluation.plans.format import Conversation
from evaluation.plans.pipeline import proposals_of, spec_of, turn_of
from evaluation.plans.source import conversations
from memgate_core import MemoryGate

_SOURCES = Path(__file__).parents[1] / "data" / "plans"
_CONVERSATIONS = 12


def measures() -> Iterator[Measured]:
    """Local judges, a cascade, a model for everything, and a model that extracts too."""
    told = list(islice(_test_conversations(), _CONVERSATIONS))
    yield _measured(told, "local", None)
    yield _measured(told, "cascade", StandInModel())
    yield _measured(told, "llm", StandInModel())
    yield _measured(told, "llm", StandInModel(), extraction="literal")
    try:
        decides = stand_in_decision_model()
    except ImportError:
        return
    yield _measured(told, "decision", decides)


def _test_conversations() -> Iterator[Conversation]:
    for source in sorted(_SOURCES.glob("test_*.txt")):
        for record in conversations(source):
            yield Conversation.model_validate(record)


def _measured(
    told: list[Conversation], classifier: str, model: Any, extraction: str = "local"
) -> Measured:
    turns, calls = 0, 0
    for conversation in told:
        for said, asked in _calls(conversation, classifier, model, extraction):
            turns += said
            calls += asked
    extracts = ", which also extracts" if extraction != "local" else ""
    return Measured(
        part="calls",
        name=f"model calls a user message, {classifier}{extracts}",
        value=calls / turns,
        unit="",
        target=0 if classifier == "local" else None,
        note=f"{turns} messages",
    )


def _calls(
    conversation: Conversation, classifier: str, model: Any, extraction: str
) -> Iterator[tuple[int, int]]:
    """One and the calls that it took, for each user message."""
    options: dict[str, Any] = {"model_options": {"extraction": extraction}} if model else {}
    with MemoryGate.open(
        "sqlite://",
        fields=[spec_of(conversation)],
        classifier=classifier,
        model=model,
        **options,
    ) as gate:
        for step in conversation.steps():
            proposals = proposals_of(step, "literal") if step.is_user else None
            brought = None if extraction != "local" else proposals or None
            receipt = gate.observe(turn_of(conversation, step), brought)
            if step.is_user:
                yield 1, receipt.model_calls
