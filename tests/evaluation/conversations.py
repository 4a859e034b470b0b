"""Small conversations and traces for tests of the evaluation."""

from __future__ import annotations

from typing import Any

from evaluation.plans.format import Conversation
from evaluation.plans.trace import (
    CurrentLine,
    DecisionLine,
    Final,
    FinalTrace,
    ResolutionLine,
    StagedLine,
    Trace,
    TurnTrace,
)

FIELD = {"entity": "user", "attribute": "home_city", "description": "the city the user lives in"}


def said(content: str, mark: str | None = None, *found: dict[str, Any]) -> dict[str, Any]:
    """A user's turn with literal and cautious extractions."""
    turn: dict[str, Any] = {"role": "user", "content": content}
    if mark:
        turn["mark"] = mark
    literal = [{**one, "span": one.get("span", content)} for one in found]
    return {**turn, "extractions": {"literal": literal, "cautious": literal}}


def answered(content: str) -> dict[str, Any]:
    """An assistant's turn."""
    return {"role": "assistant", "content": content}


def city(value: str, attribute: str = "home_city", span: str | None = None) -> dict[str, Any]:
    """An extraction for the field."""
    found = {"entity": "user", "attribute": attribute, "value": value}
    found["text"] = f"User lives in {value}"
    return {**found, "span": span} if span else found


def conversation(outcome: str = "came_true", **changes: Any) -> Conversation:
    """Leeds, a plan for York, and how it ends; three user turns at index 0, 2 and 4."""
    ends = {
        "came_true": ("I moved to York", "York"),
        "abandoned": ("York is off, we stay", "Leeds"),
        "open": ("which bin goes out this week?", "Leeds"),
        "completed": ("I moved to York", "York"),
        "corrected": ("it was York all along", "York"),
    }
    words, final = ends[outcome]
    mark = None if outcome == "open" else "outcome"
    plan = None if outcome in ("completed", "corrected") else "York"
    found = () if outcome in ("abandoned", "open") else (city("York"),)
    record: dict[str, Any] = {
        "id": "t-1",
        "kind": "core",
        "field": FIELD,
        "initial_value": "Leeds",
        "plan_value": plan,
        "outcome": outcome,
        "hedge_level": "weak" if plan else None,
        "confirm_level": "verbatim" if outcome == "came_true" else None,
        "final_value": final,
        "probe": "Which city does the user live in?",
        "sessions": [
            {
                "date": "2025-01-10T10:00:00Z",
                "turns": [
                    said("I live in Leeds", "state", city("Leeds")),
                    answered("Good to know."),
                    said("I might move to York", "plan" if plan else None, city("York")),
                    answered("York is lovely."),
                ],
            },
            {
                "date": "2025-02-10T10:00:00Z",
                "turns": [said(words, mark, *found), answered("Right.")],
            },
        ],
    }
    return Conversation.model_validate({**record, **changes})


def line(turn: int, current: str | None, **parts: Any) -> TurnTrace:
    """What a pipeline wrote down of a turn."""
    return TurnTrace(
        id="t-1",
        turn=turn,
        current={"home_city": CurrentLine(value=current)} if current else {},
        **parts,
    )


def holding(value: str, attribute: str | None = "home_city") -> DecisionLine:
    """A candidate that was held."""
    return DecisionLine(
        decision="STAGE",
        evidence_type="speculation",
        attribute=attribute,
        value=value if attribute else None,
        text=f"might move to {value}",
        span=(0, 5),
        reason="a plan",
    )


def held(value: str) -> StagedLine:
    """An item that is held."""
    return StagedLine(staged_id="s-1", attribute="home_city", value=value, status="PENDING")


def promoted(value: str) -> ResolutionLine:
    """A held item that came true."""
    return ResolutionLine(
        staged_id="s-1",
        value=value,
        resolution="promoted",
        reason="confirmed",
        attribute="home_city",
    )


def trace(*lines: TurnTrace, answer: str | None = None) -> Trace:
    """A whole trace; the answer is the last current value unless told otherwise."""
    last = answer if answer is not None else lines[-1].value_of("home_city")
    return Trace(turns=list(lines), final=FinalTrace(id="t-1", final=Final(answer=last)))
