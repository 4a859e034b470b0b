"""What the plan conversations teach beside matching: statements, held items, later turns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evaluation.training.pairs import field_of, named_in, user_turns
from evaluation.training.plan_labels import Conversation, code_of, extractions_of
from evaluation.training.resolutions import HeldItem, LaterTurn
from evaluation.training.statements import Labelled
from memgate_core.model import EvidenceType, HistoryTurn, ResolutionType, Role, Statement

_EVIDENCE = {
    ("plan", None): EvidenceType.SPECULATION,
    ("outcome", "completed"): EvidenceType.COMPLETED_EVENT,
    ("outcome", "came_true"): EvidenceType.COMPLETED_EVENT,
    ("outcome", "corrected"): EvidenceType.CORRECTION,
}
_RESOLUTIONS = {
    "came_true": ResolutionType.CONFIRM,
    "abandoned": ResolutionType.ABANDON,
}


def plan_statements(conversation: Conversation) -> Iterator[Labelled]:
    """The spans that extractors rest on, with the class a reader gave them; of conversations that
    nobody labelled, those that carry the planned (or new) value where its class is certain."""
    codes = code_of(conversation)
    for turn, before in user_turns(conversation):
        label = _label_of(turn, conversation)
        spans = {c["span"]: codes[id(c)].evidence for c in extractions_of(turn) if id(c) in codes}
        if not codes and label is not None:
            spans = {c["span"]: label for c in _about(turn, conversation)}
        history = tuple(HistoryTurn(role=Role(t["role"]), content=t["content"]) for t in before)
        for span, evidence in sorted(spans.items()):
            statement = Statement(
                text=span,
                message=turn["content"],
                history=history,
                start=max(turn["content"].find(span), 0),
            )
            yield Labelled(conversation["id"], statement, evidence, "plan")


def plan_later_turns(conversation: Conversation) -> Iterator[LaterTurn]:
    """The plan as the gate would hold it, against every later turn of the user."""
    item: HeldItem | None = None
    outcome = _RESOLUTIONS.get(conversation["outcome"])
    for turn, before in user_turns(conversation):
        if item is not None:
            settled = turn.get("mark") == "outcome" and outcome is not None
            yield LaterTurn(
                item,
                "x" if settled else "n",
                outcome if settled and outcome else ResolutionType.NOTHING,
                turn["content"],
                before[-1]["content"] if before else None,
            )
            if settled:
                return
        elif turn.get("mark") == "plan":
            item = _held(turn, conversation)


def _held(turn: dict[str, Any], conversation: Conversation) -> HeldItem:
    field = field_of(conversation)
    about = list(_about(turn, conversation))
    texts = [c["text"] for c in about] or [f"{field.attribute} is {conversation['plan_value']}"]
    return HeldItem(
        unit=conversation["id"],
        attribute=field.attribute,
        description=field.description,
        known=conversation.get("initial_value"),
        value=conversation["plan_value"],
        text=texts[0].removeprefix("User "),
        words=about[0]["span"] if about else turn["content"],
    )


def _label_of(turn: dict[str, Any], conversation: Conversation) -> EvidenceType | None:
    mark = turn.get("mark")
    if mark == "plan":
        return EvidenceType.SPECULATION
    return _EVIDENCE.get((mark or "", conversation["outcome"]))


def _about(turn: dict[str, Any], conversation: Conversation) -> Iterator[dict[str, Any]]:
    value = conversation["plan_value"] or conversation["final_value"]
    for style in ("literal", "cautious"):
        for found in turn.get("extractions", {}).get(style, ()):
            if named_in(value, found["value"]):
                yield found
