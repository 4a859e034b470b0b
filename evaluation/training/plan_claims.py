"""What the plan conversations say of their field, turn by turn, as admission records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evaluation.training.admission import Admission
from evaluation.training.pairs import Conversation, field_of, named_in, user_turns
from memgate_core.model import HistoryTurn, Role

_Verdict = tuple[str, str]

_NEW_VALUE: dict[tuple[str, str], _Verdict] = {
    ("outcome", "came_true"): ("commit", "completed_odd"),
    ("outcome", "completed"): ("commit", "completed_odd"),
    ("outcome", "corrected"): ("correct", "correction"),
    ("outcome", "abandoned"): ("none", "negation"),
}
_OLD_VALUE: dict[tuple[str, str], _Verdict] = {
    ("outcome", "abandoned"): ("commit", "plain"),
}


def plan_claims(conversation: Conversation) -> Iterator[Admission]:
    """One record for each recorded value of the field whose verdict is certain."""
    for turn, before in user_turns(conversation):
        seen: set[str] = set()
        for found in _found(turn):
            verdict = _verdict(conversation, turn, found)
            if verdict is None or found["value"] in seen:
                continue
            seen.add(found["value"])
            yield _record(conversation, turn, before, found["value"], verdict)


def _record(
    conversation: Conversation,
    turn: dict[str, Any],
    before: list[dict[str, Any]],
    value: str,
    verdict: _Verdict,
) -> Admission:
    first = turn.get("mark") == "state"
    history = (HistoryTurn(role=Role(t["role"]), content=t["content"]) for t in before)
    return Admission(
        unit=conversation["id"],
        field=field_of(conversation),
        known=None if first else conversation.get("initial_value"),
        decision=verdict[0],
        category=verdict[1],
        value=value,
        text=turn["content"],
        role=Role.USER,
        history=tuple(history),
    )


def _verdict(
    conversation: Conversation, turn: dict[str, Any], found: dict[str, Any]
) -> _Verdict | None:
    mark, outcome = turn.get("mark"), conversation["outcome"]
    new = conversation.get("plan_value") or conversation["final_value"]
    named_new = named_in(new, found["value"])
    if mark is None:
        other = found["entity"] != "user" and named_new
        return ("reject", "others_facts") if other else None
    if named_new and mark in ("plan", "reminder"):
        return "hold", "plan"
    if named_new:
        return _NEW_VALUE.get((mark, outcome))
    old = conversation.get("initial_value")
    if old and named_in(old, found["value"]):
        return ("commit", "plain") if mark == "state" else _OLD_VALUE.get((mark, outcome))
    return None


def _found(turn: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for style in ("literal", "cautious"):
        yield from turn.get("extractions", {}).get(style, ())
