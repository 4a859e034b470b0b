"""The `decision` backend: a LangChain decision model answers typed questions, one request a turn.

Choices say what kind of evidence each statement is, whose it is and which field it belongs to; a
pair of Nouls says whether each held item's conditions are met. The question classes come from the
package that the model's own class comes from, so no framework is imported here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from memgate_core.errors import ConfigurationError, ModelFaultError
from memgate_core.judgement import wording
from memgate_core.judgement.inquiry import (
    Findings,
    HeldFinding,
    HeldRow,
    Inquiry,
    Missing,
    Passage,
    Row,
    RowFinding,
)
from memgate_core.judgement.ports.deadline import within
from memgate_core.model import EvidenceType, FieldSpec, JsonObject, ResolutionType, Span, Standing

CONFIRM_FROM = 0.8
"""Probability from which "it has come true" is a confirmation (precision first)."""
ABANDON_FROM = 0.7


@dataclass(frozen=True)
class Tokens:
    """What one request cost."""

    tokens_in: int = 0
    tokens_out: int = 0


class DecisionOracle:
    """Answers inquiries through a decision model. Implements `Oracle`; thread-safe."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._choice, self._noul = _question_classes(model)
        self.name = f"decision/1:{getattr(model, 'model', type(model).__name__)}"

    def answer(self, inquiry: Inquiry, *, timeout: float) -> tuple[Findings, Tokens]:
        """All rows in one request; questions left open or answered outside come back missing.

        Raises:
            ModelFaultError: no typed answers, or not in time.
            Exception: whatever the model raises.
        """
        questions = self._questions(inquiry)
        request = {"state": _state(inquiry), "questions": questions}
        response = within(timeout, lambda: self._model.invoke(request))
        answers = getattr(response, "answers", None)
        if not isinstance(answers, Mapping):
            raise ModelFaultError("the decision model gave no typed answers")
        return _Reading(inquiry, answers).findings(), _tokens(response)

    def _questions(self, inquiry: Inquiry) -> dict[str, Any]:
        asked: dict[str, Any] = {}
        for n, row in enumerate(inquiry.rows):
            shown = _shown(row, inquiry.passages)
            asked[f"type_{n}"] = self._pick(
                {"task": "evidence_type", "question": wording.GATE_QUESTION, **shown},
                {kind.value: text for kind, text in wording.EVIDENCE.items()},
            )
            asked[f"standing_{n}"] = self._pick(
                {"task": "standing", "question": wording.STANDING_QUESTION, **shown},
                {standing.value: text for standing, text in wording.STANDING.items()},
            )
            if row in inquiry.unplaced:
                asked[f"field_{n}"] = self._pick(
                    {"task": "field", "question": wording.FIELD_QUESTION, **shown},
                    _slots(inquiry.fields),
                )
        for n, item in enumerate(inquiry.held):
            asked.update(self._about_held(n, item, inquiry.passages))
        return asked

    def _about_held(self, n: int, item: HeldRow, passages: list[Passage]) -> dict[str, Any]:
        shown = _shown_held(item, passages)
        asked = {
            f"true_{n}": self._noul(
                instructions={"task": "true_now", "question": wording.TRUE_QUESTION, **shown},
                criteria={"true": item.true_when, "false": None},
            ),
            f"off_{n}": self._noul(
                instructions={"task": "off", "question": wording.OFF_QUESTION, **shown},
                criteria={"true": item.off_when, "false": None},
            ),
        }
        if len(item.parts) > 1:
            parts = {str(i): part.of(item.passage.message) for i, part in enumerate(item.parts)}
            asked[f"where_{n}"] = self._pick(
                {"task": "where", "question": wording.WHERE_QUESTION, **shown}, parts
            )
        return asked

    def _pick(self, instructions: JsonObject, criteria: Mapping[str, str]) -> Any:
        return self._choice(instructions=instructions, criteria=dict(criteria))


@dataclass(frozen=True)
class _Reading:
    """Typed answers, read as findings."""

    inquiry: Inquiry
    answers: Mapping[str, Any]
    found: Findings = field(default_factory=Findings)

    def findings(self) -> Findings:
        for n, row in enumerate(self.inquiry.rows):
            self.found.rows[row] = self._row(n, row)
        for n, item in enumerate(self.inquiry.held):
            self.found.held[item] = self._held(n, item)
        return self.found

    def _row(self, n: int, row: Row) -> RowFinding | Missing:
        kinds = self._distribution(f"type_{n}", [kind.value for kind in EvidenceType])
        standing = self._distribution(f"standing_{n}", [s.value for s in Standing])
        slots = [*(f.attribute for f in self.inquiry.fields), wording.NO_FIELD]
        unplaced = row in self.inquiry.unplaced
        slot = self._distribution(f"field_{n}", slots) if unplaced else {wording.NO_FIELD: 1.0}
        if isinstance(kinds, Missing) or isinstance(standing, Missing) or isinstance(slot, Missing):
            return next(x for x in (kinds, standing, slot) if isinstance(x, Missing))
        chosen = max(slot, key=lambda name: slot[name])
        whose = max(standing, key=lambda name: standing[name])
        return RowFinding(
            probabilities={kind: kinds[kind.value] for kind in EvidenceType},
            standing=Standing(whose),
            slot=None if chosen == wording.NO_FIELD else chosen,
            confidence=standing[whose],
        )

    def _held(self, n: int, item: HeldRow) -> HeldFinding | Missing:
        confirm, abandon = self._yes(f"true_{n}"), self._yes(f"off_{n}")
        if isinstance(confirm, Missing) or isinstance(abandon, Missing):
            return confirm if isinstance(confirm, Missing) else abandon  # type: ignore[return-value]
        if confirm >= CONFIRM_FROM and confirm > abandon:
            kind, sure = ResolutionType.CONFIRM, confirm
        elif abandon >= ABANDON_FROM and abandon > confirm:
            kind, sure = ResolutionType.ABANDON, abandon
        else:
            return HeldFinding(
                resolution=ResolutionType.NOTHING, confidence=1.0 - max(confirm, abandon)
            )
        where = self._where(n, item)
        if isinstance(where, Missing):
            return where
        return HeldFinding(resolution=kind, confidence=sure, span=where)

    def _where(self, n: int, item: HeldRow) -> Span | Missing:
        if len(item.parts) < 2:
            return item.parts[0] if item.parts else Span(start=0, end=len(item.passage.message))
        chosen = self._distribution(f"where_{n}", [str(i) for i in range(len(item.parts))])
        if isinstance(chosen, Missing):
            return chosen
        return item.parts[int(max(chosen, key=lambda name: chosen[name]))]

    def _distribution(self, name: str, labels: list[str]) -> dict[str, float] | Missing:
        answer = self.answers.get(name)
        if answer is None:
            return Missing(reason="the decision model left a question unanswered")
        given = getattr(answer, "probabilities", None)
        choice = getattr(answer, "choice", None)
        if not isinstance(given, Mapping) or choice not in labels or not set(given) <= set(labels):
            return Missing(reason="the decision model answered with a label that was not offered")
        total = sum(float(p) for p in given.values())
        if total <= 0:
            return Missing(reason="the decision model gave no probabilities")
        return {label: float(given.get(label, 0.0)) / total for label in labels}

    def _yes(self, name: str) -> float | Missing:
        answer = getattr(self.answers.get(name), "noul", None)
        if answer is None:
            return Missing(reason="the decision model left a question unanswered")
        return float(answer)


def _question_classes(model: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    base = next((c for c in type(model).__mro__ if c.__name__ == "BaseDecisionModel"), None)
    if base is None:
        raise ConfigurationError(
            f"{type(model).__name__} is no decision model",
            hint="pass a langchain_core.decisions.BaseDecisionModel",
        )
    package = import_module(base.__module__.rpartition(".")[0])
    return package.Choice, package.Noul


def _state(inquiry: Inquiry) -> JsonObject:
    state: JsonObject = {
        "messages": [
            {
                "speaker": passage.role.value,
                "before": [
                    {"speaker": turn.role.value, "words": turn.content} for turn in passage.history
                ],
                "message": passage.message,
            }
            for passage in inquiry.passages
        ]
    }
    if inquiry.said_on is not None:
        state["today"] = inquiry.said_on.isoformat()
    return state


def _shown(row: Row, passages: list[Passage]) -> JsonObject:
    shown: JsonObject = {
        "message_number": passages.index(row.passage),
        "words": row.words,
        "start": row.start,
    }
    if row.attribute is not None or row.value is not None:
        shown |= {"about": row.entity, "attribute": row.attribute, "value": row.value}
    return shown


def _shown_held(item: HeldRow, passages: list[Passage]) -> JsonObject:
    return {
        "message_number": passages.index(item.passage),
        "plan": item.plan,
        "said": item.said,
        "said_on": item.said_on.isoformat(),
        "attribute": item.attribute,
    }


def _slots(fields: tuple[FieldSpec, ...]) -> dict[str, str]:
    slots = {spec.attribute: spec.description for spec in fields}
    return {**slots, wording.NO_FIELD: wording.NO_FIELD_MEANING}


def _tokens(response: Any) -> Tokens:
    usage = getattr(response, "usage", None) or {}
    return Tokens(int(usage.get("input_tokens", 0)), int(usage.get("output_tokens", 0)))
