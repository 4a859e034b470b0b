"""The gate's local judges, offered as a LangChain decision model.

Whatever takes a `BaseDecisionModel` can ask them, with no network and no language model. They know
their own subject only: what kind of evidence words are, whose they are, which field a value belongs
to, and what a message does to a plan. Other questions are refused, not guessed at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from langchain_core.decisions import (
    BaseDecisionModel,
    Choice,
    ChoiceAnswer,
    ClassifierResponse,
    Noul,
    NoulAnswer,
    Question,
    State,
)
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from pydantic import PrivateAttr

from memgate_core.backends import Judges, local
from memgate_core.errors import InvalidInputError
from memgate_core.judgement.protocol import StandingClaim
from memgate_core.judgement.wording import EVIDENCE, GATE_QUESTION, NO_FIELD
from memgate_core.model import (
    Candidate,
    EvidenceJudgement,
    EvidenceType,
    FieldKey,
    FieldSpec,
    HistoryTurn,
    ResolutionJudgement,
    ResolutionType,
    Role,
    Span,
    StagedItem,
    Standing,
    Statement,
    Subject,
    Turn,
)
from memgate_core.model import Evidence as EvidenceOf

_SOMEBODY = Subject(user_id="somebody")
_SOME_DAY = datetime(2000, 1, 1, tzinfo=UTC)
_KINDS = {kind.value for kind in EvidenceType}


def evidence_question(words: str | None = None) -> Choice:
    """The question what kind of evidence some words are (the whole state, when not given)."""
    instructions: dict[str, Any] = {"task": "evidence_type", "question": GATE_QUESTION}
    if words is not None:
        instructions["words"] = words
    return Choice(
        instructions=instructions, criteria={kind.value: text for kind, text in EVIDENCE.items()}
    )


class LocalDecisionModel(BaseDecisionModel):
    """Answers typed questions about evidence and plans, locally.

    model = LocalDecisionModel()
    asked = {"state": "I might move", "questions": {"kind": evidence_question()}}
    model.invoke(asked).choices["kind"].choice
    """

    model: str = "memgate-local/1"
    _judges: Judges = PrivateAttr(default_factory=local)

    @property
    def _provider(self) -> str:
        return "memgate"

    def _classify(self, state: State, questions: dict[str, Question]) -> ClassifierResponse:
        turns = _turns(state)
        answers = {name: self._answer(turns, question) for name, question in questions.items()}
        return ClassifierResponse(model=self.model, answers=answers)

    def _answer(self, turns: Sequence[Turn], question: Question) -> ChoiceAnswer | NoulAnswer:
        asked = question.instructions if isinstance(question.instructions, Mapping) else {}
        turn = turns[int(str(asked.get("message_number", 0)))]
        if isinstance(question, Choice):
            return self._choose(turn, asked, question)
        if isinstance(question, Noul) and asked.get("task") in ("true_now", "off"):
            return self._settles(turn, asked)
        if isinstance(question, Noul) and asked.get("task") == "evidence_type":
            kind = EvidenceType(str(asked.get("kind", EvidenceType.SPECULATION)))
            judged = self._evidence(turn, asked)
            return NoulAnswer(type="noul", noul=judged.probabilities[kind])
        raise _unknown()

    def _choose(self, turn: Turn, asked: Mapping[str, Any], question: Choice) -> ChoiceAnswer:
        labels = list(question.criteria)
        task = asked.get("task") or ("evidence_type" if set(labels) <= _KINDS else None)
        choosers: dict[str, Callable[[Turn, Mapping[str, Any], Choice], dict[str, float]]] = {
            "evidence_type": self._kinds,
            "standing": self._standings,
            "field": self._fields,
            "where": self._where,
        }
        if task not in choosers:
            raise _unknown()
        given = choosers[str(task)](turn, asked, question)
        return _chosen({label: given.get(label, 0.0) for label in labels})

    def _kinds(
        self,
        turn: Turn,
        asked: Mapping[str, Any],
        question: Choice,  # noqa: ARG002
    ) -> dict[str, float]:
        judged = self._evidence(turn, asked)
        return {kind.value: p for kind, p in judged.probabilities.items()}

    def _standings(
        self, turn: Turn, asked: Mapping[str, Any], question: Choice
    ) -> dict[str, float]:
        candidate = _candidate(turn, asked)
        field = self._field_named(asked)
        claim = StandingClaim(
            candidate=candidate, field=field, known=None, evidence=self._evidence(turn, asked)
        )
        (judged,) = self._judges.standing.stand(turn, [claim])
        return _around(judged.standing.value, judged.confidence, list(question.criteria))

    def _fields(self, turn: Turn, asked: Mapping[str, Any], question: Choice) -> dict[str, float]:
        fields = [
            FieldSpec(attribute=name, description=str(text or name))
            for name, text in question.criteria.items()
            if name != NO_FIELD
        ]
        (match,) = self._judges.matcher.match([_candidate(turn, asked)], fields)
        chosen = match.field.attribute if match.field is not None else NO_FIELD
        return _around(chosen, match.confidence, list(question.criteria))

    def _where(self, turn: Turn, asked: Mapping[str, Any], question: Choice) -> dict[str, float]:
        parts = {label: str(text) for label, text in question.criteria.items()}
        spans = _places(turn.text, parts)
        settled = self._check(turn, asked).span
        near = [n for n, span in spans.items() if settled is not None and span.overlaps(settled)]
        return _around(near[0] if near else next(iter(parts)), 0.9, list(parts))

    def _settles(self, turn: Turn, asked: Mapping[str, Any]) -> NoulAnswer:
        judged = self._check(turn, asked)
        wanted = ResolutionType.CONFIRM if asked["task"] == "true_now" else ResolutionType.ABANDON
        if judged.resolution is wanted:
            return NoulAnswer(type="noul", noul=judged.confidence)
        open_ = judged.resolution is ResolutionType.NOTHING
        # what the checker leaves open is no yes, however near it was to one
        doubt = min(0.49, 1.0 - judged.confidence) if open_ else 0.0
        return NoulAnswer(type="noul", noul=max(0.0, doubt))

    def _evidence(self, turn: Turn, asked: Mapping[str, Any]) -> EvidenceJudgement:
        words = str(asked.get("words") or turn.text)
        statement = Statement(
            text=words,
            message=turn.text,
            role=turn.role,
            history=turn.history,
            start=int(asked.get("start", max(0, turn.text.find(words)))),
        )
        return self._judges.classifier.classify([statement])[0]

    def _check(self, turn: Turn, asked: Mapping[str, Any]) -> ResolutionJudgement:
        return self._judges.checker.check(turn, [_item(asked)])[0]

    def _field_named(self, asked: Mapping[str, Any]) -> FieldSpec | None:
        name = asked.get("attribute")
        try:
            return FieldSpec(attribute=str(name), description=str(name)) if name else None
        except ValueError:
            return None


def _turns(state: State) -> list[Turn]:
    """The messages that a state holds: text, messages, or the form that the gate itself sends."""
    if isinstance(state, Mapping):
        listed = state.get("messages") or [state]
        return [_turn_of(entry) for entry in listed]  # type: ignore[union-attr]
    if isinstance(state, str | BaseMessage):
        return [_turn_of(state)]
    *before, last = list(state)
    turn = _turn_of(last)
    history = tuple(HistoryTurn(role=t.role, content=t.text) for t in map(_turn_of, before))
    return [turn.model_copy(update={"history": history[-2:]})]


def _turn_of(entry: Any) -> Turn:
    if isinstance(entry, Mapping):
        text, role = str(entry.get("message", "")), Role(str(entry.get("speaker", "user")))
        history = tuple(
            HistoryTurn(role=Role(str(h["speaker"])), content=str(h["words"]))
            for h in entry.get("before") or ()
        )
    elif isinstance(entry, BaseMessage):
        text, history = str(entry.text), ()
        role = Role.ASSISTANT if isinstance(entry, AIMessage) else Role.USER
        role = role if isinstance(entry, AIMessage | HumanMessage) else Role.TOOL
    else:
        text, role, history = str(entry), Role.USER, ()
    if not text.strip():
        raise InvalidInputError("the state holds no message to judge")
    return Turn(
        subject=_SOMEBODY,
        message_id="state",
        role=role,
        text=text,
        occurred_at=_SOME_DAY,
        history=history,
    )


def _candidate(turn: Turn, asked: Mapping[str, Any]) -> Candidate:
    words = str(asked.get("words") or turn.text)
    start = int(asked.get("start", max(0, turn.text.find(words))))
    value, attribute = asked.get("value"), asked.get("attribute")
    return Candidate(
        entity=str(asked.get("about") or "user"),
        attribute=None if attribute is None else str(attribute),
        value=None if value is None else str(value),
        text=words,
        words=words,
        evidence=EvidenceOf.of(turn, Span(start=start, end=start + len(words))),
        ordinal=0,
        extractor="decision",
    )


def _item(asked: Mapping[str, Any]) -> StagedItem:
    plan, attribute = str(asked.get("plan") or ""), asked.get("attribute")
    if not plan:
        raise InvalidInputError("the question names no plan")
    key = FieldKey(subject=_SOMEBODY, normalized_key=str(attribute or "plan"))
    said = str(asked.get("said") or plan)
    return StagedItem(
        staged_id="asked",
        proposal_id="asked",
        key=key,
        attribute=None if attribute is None else str(attribute),
        text=plan,
        words=said,
        promote_when="",
        discard_when="",
        evidence=EvidenceOf(message_id="asked", start=0, end=len(said), sha256=""),
        created_at=_SOME_DAY,
        last_stated_at=_SOME_DAY,
    )


def _places(text: str, parts: Mapping[str, str]) -> dict[str, Span]:
    found = {label: text.find(part) for label, part in parts.items()}
    return {
        label: Span(start=at, end=at + len(parts[label])) for label, at in found.items() if at >= 0
    }


def _around(chosen: str, confidence: float, labels: list[str]) -> dict[str, float]:
    """A distribution with a given winner; the doubt is spread evenly."""
    if chosen not in labels:
        return dict.fromkeys(labels, 1.0 / len(labels))
    lead = max(confidence, 1.0 / len(labels) + 1e-6)
    rest = (1.0 - lead) / max(1, len(labels) - 1)
    return {label: lead if label == chosen else rest for label in labels}


def _chosen(probabilities: dict[str, float]) -> ChoiceAnswer:
    total = sum(probabilities.values()) or 1.0
    shares = {label: p / total for label, p in probabilities.items()}
    top = max(shares, key=lambda label: shares[label])
    return ChoiceAnswer(
        type="choice", choice=top, probabilities=shares, confidence=min(1.0, shares[top])
    )


def _unknown() -> InvalidInputError:
    named = ", ".join(["evidence_type", "standing", "field", "where", "true_now", "off"])
    return InvalidInputError(
        "the local decision model does not know this question",
        hint=f"instructions with a task ({named}), or a Choice among the evidence types",
    )


__all__ = ["LocalDecisionModel", "Standing", "evidence_question"]
