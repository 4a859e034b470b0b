"""The gated pipeline: the product itself, through its own entry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.plans.extractors import Extractor, extractor_of
from evaluation.plans.format import Conversation, Step
from evaluation.plans.matchers import matcher_of
from evaluation.plans.pipeline import spec_of, subject_of, turn_of
from evaluation.plans.setting import Setting
from evaluation.plans.trace import (
    CurrentLine,
    DecisionLine,
    Final,
    ResolutionLine,
    StagedLine,
    TurnTrace,
)
from memgate_core import MemoryGate
from memgate_core.ledger.protocol import Ledger
from memgate_core.model import Judged, Receipt, Resolved, StagedItem


class GatedPipeline:
    """One conversation through a gate that has one field registered."""

    def __init__(
        self, conversation: Conversation, setting: Setting, ledger: Ledger | None = None
    ) -> None:
        """Without a `ledger` the conversation gets one of its own, in memory."""
        self._conversation = conversation
        self._subject = subject_of(conversation)
        self._attribute = conversation.field.attribute
        self._extractor: Extractor = extractor_of(setting, conversation)
        self._shared = ledger is not None
        self.gate = MemoryGate.open(
            "sqlite://",
            ledger=ledger,
            fields=[spec_of(conversation)],
            matcher=matcher_of(setting.matcher),
            reader=setting.reader,
            classifier=setting.classifier,
            **setting.gate_options(),
        )

    def take(self, step: Step) -> TurnTrace:
        """Observes the turn and reads the profile as anybody would."""
        turn = turn_of(self._conversation, step)
        proposals = self._extractor(step) if step.is_user else None
        return self.traced(step, self.gate.observe(turn, proposals or None))

    def traced(self, step: Step, receipt: Receipt) -> TurnTrace:
        """The line that a receipt and the reads after it make."""
        pending = self.gate.profile(self._subject).staged()
        held = {item.staged_id: item.value for item in pending}
        extra: dict[str, Any] = {"faults": list(receipt.faults)} if receipt.faults else {}
        if receipt.model_calls:
            extra |= {"model_tokens": receipt.model_tokens, "model_ms": receipt.model_ms}
        return TurnTrace(
            id=self._conversation.id,
            turn=step.index,
            decisions=[_decision(judged, held) for judged in receipt.judged],
            resolutions=[_resolution(resolved) for resolved in receipt.resolved],
            current=self._current(),
            staged=[_staged(item) for item in pending],
            model_calls=receipt.model_calls,
            gate_ms=receipt.gate_ms,
            **extra,
        )

    def final(self) -> Final:
        """The field's value and how many plans are still open."""
        profile = self.gate.profile(self._subject)
        fact = profile.current(self._attribute)
        return Final(
            answer=fact.value if fact else None,
            staged_pending=self.gate.ledger.pending_count(self._subject),
        )

    def close(self) -> None:
        """Closes the ledger, unless it is shared."""
        if not self._shared:
            self.gate.close()

    def _current(self) -> dict[str, CurrentLine]:
        fact = self.gate.profile(self._subject).current(self._attribute)
        if fact is None:
            return {}
        return {self._attribute: CurrentLine(value=fact.value, valid_from=fact.valid_from)}


def _decision(judged: Judged, held: Mapping[str, str | None]) -> DecisionLine:
    """`held`: values of pending items; what is held is shown as the gate holds it."""
    span = judged.candidate.evidence.span
    return DecisionLine(
        decision=str(judged.decision.decision),
        evidence_type=str(judged.judgement.evidence_type),
        attribute=judged.match.field.attribute if judged.match.field else None,
        value=held.get(judged.staged_id or "", judged.candidate.value),
        text=judged.candidate.text,
        span=(span.start, span.end),
        reason=judged.decision.reason,
        rule=judged.decision.rule,
        staged_id=judged.staged_id,
    )


def _resolution(resolved: Resolved) -> ResolutionLine:
    return ResolutionLine(
        staged_id=resolved.staged_id,
        value=resolved.value,
        resolution="promoted" if resolved.fact_id else "discarded",
        reason=resolved.reason,
        attribute=resolved.attribute,
        text=resolved.text,
    )


def _staged(item: StagedItem) -> StagedLine:
    return StagedLine(
        staged_id=item.staged_id,
        attribute=item.attribute,
        value=item.value,
        status=str(item.status),
        text=item.text,
    )
