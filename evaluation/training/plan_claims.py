"""What the plan conversations say of their field, turn by turn, as admission records.

Two kinds of record: with the value as an extractor wrote it down, with the verdict a reader gave;
and with the value as the user said it, to be read out of the words.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evaluation.training.admission import Admission
from evaluation.training.pairs import field_of, named_in, user_turns
from evaluation.training.plan_labels import Conversation, code_of, extractions_of
from memgate_core.model import HistoryTurn, Role

_Verdict = tuple[str, str]

_VERDICTS: dict[str, _Verdict] = {
    "C": ("commit", "plain"),
    "X": ("correct", "correction"),
    "H": ("hold", "plan"),
    "N": ("none", "unsaid"),
    "P": ("reject", "others_facts"),
}
"""By the letter of a hand label (plan_labels)."""
_SAID: dict[tuple[str | None, str | None], tuple[str, _Verdict]] = {
    ("state", None): ("initial_value", ("commit", "plain")),
    ("plan", None): ("plan_value", ("hold", "plan")),
    ("reminder", None): ("plan_value", ("hold", "plan")),
    ("outcome", "came_true"): ("plan_value", ("commit", "completed_odd")),
    ("outcome", "completed"): ("final_value", ("commit", "completed_odd")),
    ("outcome", "corrected"): ("final_value", ("correct", "correction")),
    ("outcome", "abandoned"): ("plan_value", ("none", "negation")),
}
"""By mark and outcome: whose words stand in the turn, and what it says of them."""


def plan_claims(conversation: Conversation) -> Iterator[Admission]:
    """Records of one conversation whose verdict is certain."""
    codes = code_of(conversation)
    for turn, before in user_turns(conversation):
        seen: set[str] = set()
        verdicts = [_said(conversation, turn)]
        for found in extractions_of(turn):
            code = codes.get(id(found))
            if code is not None and code.verdict is not None:
                verdicts.append((found["value"], _VERDICTS[code.verdict]))
            elif not codes:
                verdicts.append(_by_value(conversation, turn, found))
        for value, verdict in (given for given in verdicts if given is not None):
            if value not in seen:
                seen.add(value)
                yield _record(conversation, turn, before, value, verdict)


def _said(conversation: Conversation, turn: dict[str, Any]) -> tuple[str, _Verdict] | None:
    """The value that a marked turn says in so many words."""
    mark = turn.get("mark")
    found = _SAID.get((mark, None)) or _SAID.get((mark, conversation["outcome"]))
    value = conversation.get(found[0]) if found else None
    if found is None or not value or value.lower() not in turn["content"].lower():
        return None
    return value, found[1]


def _by_value(
    conversation: Conversation, turn: dict[str, Any], found: dict[str, Any]
) -> tuple[str, _Verdict] | None:
    """The verdict on an extraction that nobody labelled, where its value tells."""
    mark = turn.get("mark")
    said = _SAID.get((mark, None)) or _SAID.get((mark, conversation["outcome"]))
    if said is not None:
        value = conversation.get(said[0])
        return (found["value"], said[1]) if value and named_in(value, found["value"]) else None
    new = conversation.get("plan_value") or conversation["final_value"]
    if mark is None and found["entity"] != "user" and named_in(new, found["value"]):
        return found["value"], _VERDICTS["P"]
    return None


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
