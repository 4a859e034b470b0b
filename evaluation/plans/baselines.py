"""The baselines: the same extraction and matching with no gate, or with plans merely masked."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from evaluation.plans.extractors import extractor_of
from evaluation.plans.format import Conversation, Step
from evaluation.plans.matchers import matcher_of
from evaluation.plans.pipeline import spec_of, turn_of
from evaluation.plans.profile_store import ProfileStore
from evaluation.plans.setting import Setting
from evaluation.plans.trace import CurrentLine, DecisionLine, Final, TurnTrace
from memgate_core.backends import judges_of
from memgate_core.extraction.align import align
from memgate_core.judgement.protocol import EvidenceClassifier
from memgate_core.judgement.reading import LocalFieldReader
from memgate_core.judgement.sitting import Sitting, sitting
from memgate_core.model import (
    Candidate,
    EvidenceJudgement,
    EvidenceType,
    FieldMatch,
    HistoryTurn,
    Role,
    Turn,
)
from memgate_core.weighing import statement_of


class BaselinePipeline:
    """Writes every matched tuple at once (gate off), or writes speculation as a masked plan."""

    def __init__(self, conversation: Conversation, setting: Setting) -> None:
        self._conversation, self._setting = conversation, setting
        self._field = spec_of(conversation)
        self._store = ProfileStore(reading=setting.reading)
        self._extractor = extractor_of(setting, conversation)
        self._matcher = matcher_of(setting.matcher)
        self._classifier = _classifier_of(setting) if setting.gate == "plan-typed" else None
        self._asked = Sitting()
        self._history: list[HistoryTurn] = []

    def take(self, step: Step) -> TurnTrace:
        """Writes what the turn's tuples say and reads the store."""
        started = perf_counter()
        turn = turn_of(self._conversation, step, self._history[-2:])
        self._asked = Sitting()
        decisions = self._write(turn, step) if step.is_user else []
        self._history.append(HistoryTurn(role=Role(step.turn.role), content=step.turn.content))
        return TurnTrace(
            id=self._conversation.id,
            turn=step.index,
            decisions=decisions,
            resolutions=[],
            current=self._current(),
            staged=[],
            model_calls=self._asked.calls,
            gate_ms=round((perf_counter() - started) * 1000, 3),
            **self._rest(),
        )

    def final(self) -> Final:
        """The most recent value that is not masked."""
        entry = self._store.current()
        return Final(answer=entry.value if entry else None, staged_pending=0)

    def close(self) -> None:
        """Nothing to let go of."""

    def _rest(self) -> dict[str, Any]:
        """What stands in a line only where there is any of it."""
        asked = self._asked
        rest: dict[str, Any] = {"faults": list(asked.faults)} if asked.faults else {}
        if asked.calls:
            rest |= {"model_tokens": asked.tokens, "model_ms": round(asked.ms, 3)}
        if self._setting.gate == "plan-typed":
            rest["masked"] = self._store.masked()
        return rest

    def _write(self, turn: Turn, step: Step) -> list[DecisionLine]:
        candidates = self._candidates(turn, step)
        matches = self._matcher.match(candidates, [self._field]) if candidates else []
        judged = self._judged(turn, candidates)
        return [
            self._commit(turn, candidate, match, judgement)
            for candidate, match, judgement in zip(candidates, matches, judged, strict=True)
        ]

    def _candidates(self, turn: Turn, step: Step) -> list[Candidate]:
        if self._setting.extraction != "local":
            return align(turn, self._extractor(step))
        current = self._store.current()
        known = {self._field.attribute: current.value if current else None}
        return LocalFieldReader().read(turn, [self._field], known)

    def _judged(self, turn: Turn, candidates: list[Candidate]) -> list[EvidenceJudgement | None]:
        if self._classifier is None or not candidates:
            return [None] * len(candidates)
        with sitting() as asked:
            judged = self._classifier.classify([statement_of(turn, c) for c in candidates])
        self._asked = asked
        return list(judged)

    def _commit(
        self,
        turn: Turn,
        candidate: Candidate,
        match: FieldMatch,
        judgement: EvidenceJudgement | None,
    ) -> DecisionLine:
        plan = judgement is not None and _may_be_a_plan(judgement)
        written = match.field is not None and candidate.value is not None
        if written and candidate.value is not None:
            self._store.write(candidate.value, turn.occurred_at, plan=plan)
        span = candidate.evidence.span
        return DecisionLine(
            decision="COMMIT" if written else "IGNORE",
            evidence_type=str(judgement.evidence_type) if judgement else None,
            attribute=match.field.attribute if match.field else None,
            value=candidate.value,
            text=candidate.text,
            span=(span.start, span.end),
            reason=_reason(written, plan),
        )

    def _current(self) -> dict[str, CurrentLine]:
        entry = self._store.current()
        if entry is None:
            return {}
        return {self._field.attribute: CurrentLine(value=entry.value, valid_from=entry.valid_from)}


def _classifier_of(setting: Setting) -> EvidenceClassifier:
    asked = setting.gate_options()
    return judges_of(setting.classifier, asked.get("model"), asked.get("model_options")).classifier


def _may_be_a_plan(judgement: EvidenceJudgement) -> bool:
    """As the gate has it: where the model failed, nobody could tell a plan from a fact."""
    return judgement.evidence_type is EvidenceType.SPECULATION or judgement.fault is not None


def _reason(written: bool, plan: bool) -> str:
    if not written:
        return "no registered field matches"
    return "written as a plan, hidden from reads" if plan else "matched tuples are written at once"
