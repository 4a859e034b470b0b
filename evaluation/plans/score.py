"""What a trace says about a labelled conversation, judged by one function of value equality.

`memgate_core.fields.values.same_value` (normalised containment) decides for every pipeline alike
whether a stored value is the labelled one. It also holds for a value that is worded as a plan
("considering Saltaire"); the tables say how many of those there are. Where a model is at hand it
may judge stored and answered values in its place (`evaluation.equivalence`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from pydantic import BaseModel, ConfigDict

from evaluation.plans.format import Conversation
from evaluation.plans.trace import DecisionLine, Trace, TurnTrace
from memgate_core.fields.values import same_value

Same = Callable[[str, str], bool]
"""Whether a stored value (first) asserts the labelled one (second)."""

HOLDING = frozenset({"STAGE", "NEEDS_CONFIRMATION", "CONFIRM_REPLACE", "CONFLICT"})
_PLAN_WORDED = re.compile(
    r"\b(consider|think|plan|might|may|maybe|possib|potential|hop|want|undecided|torn|weigh|"
    r"interest|intend|going to|will|to start|would|could|if|either|prospective|tempted|leaning)",
    re.IGNORECASE,
)


class Score(BaseModel):
    """One conversation under one pipeline. None where a measure does not apply to it."""

    model_config = ConfigDict(frozen=True)

    id: str
    kind: str
    outcome: str
    hedge: str | None
    wording: str | None
    at_risk: bool
    right: bool
    """The probe's answer is the final value (task accuracy)."""
    answer: str | None
    pending_contaminated: bool | None = None
    """At-risk plans: stored as current at some read while the plan was open."""
    end_contaminated: bool | None = None
    """At-risk plans: stored as current when the conversation is over."""
    plan_worded: bool | None = None
    """A contaminating value was itself worded as a plan."""
    exposed: bool | None = None
    """Any plan: its value was current before the outcome was told."""
    staged: bool | None = None
    """Any plan: held on the registered field at the plan turn."""
    held_open: bool | None = None
    """Any plan: not on the field, but held as an open item at the plan turn."""
    promoted: bool | None = None
    """Came-true plans: promoted at the outcome turn, the only valid time."""
    settled_by_end: bool | None = None
    """Came-true plans: promoted at the outcome turn or later."""
    discarded: bool | None = None
    """Abandoned plans: not held at the end, and never promoted (the paper's measure)."""
    discarded_of_held: bool | None = None
    """As `discarded`, for those that were held at some time."""
    falsely_promoted: bool | None = None
    """Any plan: promoted while it was not true."""
    committed_at_once: bool | None = None
    """Completed changes: current right after they were told."""
    over_held: bool | None = None
    """Completed changes: held instead."""
    corrected: bool | None = None
    """Corrections: current right after they were told."""
    masked_at_end: bool | None = None
    """Plan-typed baseline: a value is still masked as a plan at the end."""
    model_calls: int = 0
    user_turns: int = 0
    gate_ms: tuple[float, ...] = ()


def score(conversation: Conversation, trace: Trace, same: Same = same_value) -> Score:
    """Scores one conversation; the trace may come from any pipeline or from a file."""
    common = {
        "id": conversation.id,
        "kind": conversation.kind or "",
        "outcome": conversation.outcome or "",
        "hedge": conversation.hedge_level,
        "wording": conversation.confirm_level,
        "at_risk": conversation.at_risk and conversation.plan_value is not None,
        "right": _holds(same, trace.final.final.answer, conversation.final_value),
        "answer": trace.final.final.answer,
        "model_calls": sum(line.model_calls for line in trace.turns),
        "user_turns": len(trace.turns),
        "gate_ms": tuple(line.gate_ms for line in trace.turns),
        "masked_at_end": _masked(trace),
    }
    return Score.model_validate(
        {**common, **_plan(conversation, trace, same), **_control(conversation, trace, same)}
    )


def _plan(conversation: Conversation, trace: Trace, same: Same) -> dict[str, object]:
    begins = conversation.marked("plan")
    plan = conversation.plan_value
    if begins is None or plan is None:
        return {}
    attribute = conversation.field.attribute
    ends = conversation.marked("outcome")
    window = [t for t in trace.turns if t.turn >= begins and (ends is None or t.turn < ends)]
    shown = [v for t in window if _holds(same, v := t.value_of(attribute), plan)]
    end = trace.turns[-1].value_of(attribute) if trace.turns else None
    at_end = _holds(same, end, plan)
    held = [d for d in _decisions(trace, begins) if d.decision in HOLDING]
    staged = any(d.attribute == attribute and _names(d, plan) for d in held)
    early = [t for t in trace.turns if ends is None or t.turn < ends or conversation.at_risk]
    outcome = trace.at(ends) if ends is not None else None
    came_true, abandoned = conversation.outcome == "came_true", conversation.outcome == "abandoned"
    gone = _discarded(trace, plan, attribute)
    contaminating = [*shown, *([end] if at_end else [])]
    return {
        "pending_contaminated": bool(shown) if conversation.at_risk else None,
        "end_contaminated": at_end if conversation.at_risk else None,
        "plan_worded": _worded(contaminating) if conversation.at_risk and contaminating else None,
        "exposed": bool(shown),
        "staged": staged,
        "held_open": not staged and any(_about(d, plan) for d in held),
        "promoted": _promotes(outcome, plan, attribute) if came_true else None,
        "settled_by_end": _settles(trace, ends, plan, attribute) if came_true else None,
        "discarded": gone if abandoned else None,
        "discarded_of_held": gone if abandoned and _ever_held(trace, plan, attribute) else None,
        "falsely_promoted": any(_promotes(t, plan, attribute) for t in early),
    }


def _control(conversation: Conversation, trace: Trace, same: Same) -> dict[str, object]:
    if conversation.outcome not in ("completed", "corrected"):
        return {}
    told = conversation.marked("outcome")
    line = trace.at(told) if told is not None else None
    attribute, final = conversation.field.attribute, conversation.final_value
    at_once = line is not None and _holds(same, line.value_of(attribute), final)
    if conversation.outcome == "corrected":
        return {"corrected": at_once}
    held = line is not None and any(
        d.decision in HOLDING and d.attribute == attribute and _names(d, final)
        for d in line.decisions
    )
    return {"committed_at_once": at_once, "over_held": held and not at_once}


def _decisions(trace: Trace, index: int) -> list[DecisionLine]:
    line = trace.at(index)
    return list(line.decisions) if line else []


def _names(decision: DecisionLine, value: str | None) -> bool:
    return value is not None and (_same(decision.value, value) or _same(decision.text, value))


def _about(decision: DecisionLine, value: str) -> bool:
    return decision.attribute is None and _names(decision, value)


def _promotes(line: TurnTrace | None, plan: str, attribute: str) -> bool:
    return line is not None and any(
        done.resolution == "promoted"
        and _is_plan(done.value, done.text, done.attribute, plan, attribute)
        for done in line.resolutions
    )


def _settles(trace: Trace, ends: int | None, plan: str, attribute: str) -> bool:
    return any(
        ends is not None and line.turn >= ends and _promotes(line, plan, attribute)
        for line in trace.turns
    )


def _discarded(trace: Trace, plan: str, attribute: str) -> bool:
    if not trace.turns or any(_promotes(line, plan, attribute) for line in trace.turns):
        return False
    return not any(
        _is_plan(item.value, item.text, item.attribute, plan, attribute)
        for item in trace.turns[-1].staged
    )


def _ever_held(trace: Trace, plan: str, attribute: str) -> bool:
    return any(
        _is_plan(item.value, item.text, item.attribute, plan, attribute)
        for line in trace.turns
        for item in line.staged
    )


def _is_plan(
    value: str | None, text: str | None, found_on: str | None, plan: str, attribute: str
) -> bool:
    if found_on == attribute and value is not None:
        return _same(value, plan)
    return _same(text, plan)


def _masked(trace: Trace) -> bool | None:
    if not trace.turns or trace.turns[-1].masked is None:
        return None
    return bool(trace.turns[-1].masked)


def worded_as_plan(text: str) -> bool:
    """True for a value or answer that speaks of a plan or a possibility, not of what is so."""
    return bool(_PLAN_WORDED.search(text))


def _worded(values: Iterable[str | None]) -> bool:
    return all(value is not None and worded_as_plan(value) for value in values)


def _same(stored: str | None, label: str | None) -> bool:
    return _holds(same_value, stored, label)


def _holds(same: Same, stored: str | None, label: str | None) -> bool:
    if stored is None or label is None:
        return stored is None and label is None
    return same(stored, label)
