"""Whole products, session by session: what their own search answers while a plan is open (A.7).

Each conversation is ingested into a real, embedded framework, as released and gated. After every
session the probe is asked. A plan counts as exposed if any answer before its outcome asserts it as
the present state; answers worded as plans, and facts that are shown as ended, do not count.

Without a model the answer is the best search result that names one of the values the conversation
speaks of; with one, the model answers from the results and judges the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel

from evaluation.answerer import Answerer, AnswererFigures
from evaluation.plans import paper
from evaluation.plans.format import Conversation, Style
from evaluation.plans.pipeline import trace_of
from evaluation.plans.run import labelled, pipeline_for
from evaluation.plans.score import worded_as_plan
from evaluation.plans.setting import GateMode, MemoryName, ModelAccess, Setting
from evaluation.plans.trace import Trace
from evaluation.report.table import Cell, Table
from evaluation.statistics.bootstrap import paired_difference
from evaluation.statistics.proportion import Proportion
from memgate_core.fields.values import same_value

_ENDED = "(until "


class ProductScore(BaseModel):
    """One conversation in one product."""

    id: str
    product: str
    at_risk: bool
    exposed: bool
    """The plan was answered as the present state at the end of a session before its outcome."""
    right: bool
    """The last answer is the final value."""
    answers: list[str | None]
    """After each session."""


def products(
    names: Sequence[MemoryName], style: Style = "literal", model: ModelAccess | None = None
) -> list[Setting]:
    """Each framework as released and gated; its extraction by `model`, else as recorded in a
    style."""
    return [
        Setting.model_validate(
            {
                "name": f"{name} {'gated' if gate == 'on' else 'as released'}",
                "extraction": "llm" if model else f"recorded:{style}",
                "model": model,
                "gate": gate,
                "memory": name,
                "matcher": "full" if gate == "on" else "no_retry",
            }
        )
        for name in names
        for gate in _GATES
    ]


_GATES: tuple[GateMode, ...] = ("off", "on")


def measure(
    path: Path,
    settings: Sequence[Setting],
    *,
    answerer: Answerer | None = None,
    consumed: Callable[[int], None] | None = None,
) -> Iterator[ProductScore]:
    """Scores every conversation in every product.

    Raises:
        InvalidRecordError: a malformed or unlabelled line. ConfigurationError: a framework is not
            installed. ModelFaultError: the answering model fails again and again.
    """
    for conversation in labelled(path, consumed=consumed):
        for setting in settings:
            trace = trace_of(conversation, pipeline_for(conversation, setting))
            yield scored(conversation, trace, setting.name, answerer)


def scored(
    conversation: Conversation, trace: Trace, product: str, answerer: Answerer | None = None
) -> ProductScore:
    """What a trace with the framework's own search results is worth."""
    answers = [
        _answer(conversation, found, answerer) for found in _after_sessions(conversation, trace)
    ]
    told = conversation.marked("outcome")
    before = answers[: _session_of(conversation, told)] if told is not None else answers
    plan = conversation.plan_value
    return ProductScore(
        id=conversation.id,
        product=product,
        at_risk=conversation.at_risk and plan is not None,
        exposed=plan is not None
        and any(
            _asserts(conversation, one, plan, answerer) for one in _since_plan(conversation, before)
        ),
        right=bool(answers)
        and _asserts(conversation, answers[-1], conversation.final_value, answerer),
        answers=answers,
    )


def _after_sessions(conversation: Conversation, trace: Trace) -> list[Sequence[str]]:
    """The search results after the last user turn of each session."""
    last: dict[int, Sequence[str]] = {}
    by_turn = {line.turn: line.memory or () for line in trace.turns}
    for step in conversation.steps():
        if step.index in by_turn:
            last[step.session] = by_turn[step.index]
    return [last.get(number, ()) for number in range(len(conversation.sessions))]


def _session_of(conversation: Conversation, index: int) -> int:
    return next(step.session for step in conversation.steps() if step.index == index)


def _since_plan(conversation: Conversation, answers: Sequence[str | None]) -> Sequence[str | None]:
    voiced = conversation.marked("plan")
    return answers[_session_of(conversation, voiced) :] if voiced is not None else ()


def _answer(
    conversation: Conversation, found: Sequence[str], answerer: Answerer | None
) -> str | None:
    def picked() -> str | None:
        return _picked(conversation, found)

    return picked() if answerer is None else answerer.answer(conversation.probe, found, picked)


def _picked(conversation: Conversation, found: Sequence[str]) -> str | None:
    """The best result that shows one of the conversation's values, and not as one that ended."""
    values = (conversation.plan_value, conversation.final_value, conversation.initial_value)
    named = [value for value in values if value is not None]
    return next(
        (
            text
            for text in found
            if _ENDED not in text and any(same_value(text, value) for value in named)
        ),
        None,
    )


def _asserts(
    conversation: Conversation, answer: str | None, value: str | None, answerer: Answerer | None
) -> bool:
    if answer is None or value is None:
        return answer is None and value is None
    if answerer is not None:
        return answerer.same(conversation.probe, value, answer, _states)
    return _states(answer, value)


def _states(answer: str, value: str) -> bool:
    """The fixed function: the answer names the value, and not in the words of a plan."""
    return same_value(answer, value) and not worded_as_plan(answer)


def table(scores: Sequence[ProductScore], asked: AnswererFigures | None) -> Table:
    """The products side by side, and the paired difference of each with its gated form. `asked`:
    of the model that answered and judged, if one did."""
    names = list(dict.fromkeys(one.product for one in scores))
    rows: list[tuple[str, Sequence[Cell]]] = [
        ("at-risk plans exposed", [_share(scores, name, "exposed", True) for name in names]),
        ("probes answered right", [_share(scores, name, "right", False) for name in names]),
        ("exposed, gated minus released", [_difference(scores, n, "exposed") for n in names]),
        ("right, gated minus released", [_difference(scores, n, "right") for n in names]),
    ]
    how = asked.told if asked is not None else "No model asked."
    return Table.build(
        "Products, session by session",
        names,
        rows,
        note=f"{how} A plan is exposed if any answer before its outcome asserts it.",
        theirs=paper.PRODUCTS,
    )


def _share(scores: Sequence[ProductScore], product: str, measure: str, at_risk: bool) -> Proportion:
    return Proportion.of(
        getattr(one, measure)
        for one in scores
        if one.product == product and (one.at_risk or not at_risk)
    )


def _difference(scores: Sequence[ProductScore], product: str, measure: str) -> Cell:
    released = product.replace("gated", "as released")
    if product == released:
        return None
    gated = {one.id: one for one in scores if one.product == product}
    plain = {one.id: one for one in scores if one.product == released}
    return paired_difference(
        (key, getattr(gated[key], measure), getattr(plain[key], measure))
        for key in gated
        if key in plain and (measure == "right" or gated[key].at_risk)
    )
