"""Candidates beside fields, from the plan conversations: are they the same slot?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from evaluation.training.plan_labels import Conversation, code_of, extractions_of
from memgate_core.judgement.matching import owned
from memgate_core.model import FieldSpec


@dataclass(frozen=True)
class Pairing:
    """A field and a recorded candidate."""

    unit: str
    field: FieldSpec
    entity: str
    attribute: str
    value: str
    text: str
    same: bool


def field_of(conversation: Conversation) -> FieldSpec:
    """The one registered field of a conversation."""
    given = conversation["field"]
    return FieldSpec(attribute=given["attribute"], description=given["description"])


def values_of(conversation: Conversation) -> list[str]:
    """Every value that the field takes or might have taken."""
    keys = ("initial_value", "plan_value", "final_value")
    return [conversation[key] for key in keys if conversation.get(key)]


def named_in(value: str, text: str) -> bool:
    """True when the words of a value stand in a text, articles and case aside."""
    words = _plain(value)
    return bool(words) and f" {words} " in f" {_plain(text)} "


def _plain(text: str) -> str:
    kept = re.findall(r"\w+", text.lower())
    return " ".join(word for word in kept if word not in ("a", "an", "the", "my"))


def user_turns(conversation: Conversation) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Each user turn with the turns of its own session before it."""
    for session in conversation["sessions"]:
        before: list[dict[str, Any]] = []
        for turn in session["turns"]:
            if turn["role"] == "user":
                yield turn, before[-2:]
            before = [*before, turn]


def pairings(conversation: Conversation) -> Iterator[Pairing]:
    """Every recorded candidate against the conversation's field; unclear ones are left out."""
    field, codes = field_of(conversation), code_of(conversation)
    for turn, _ in user_turns(conversation):
        for found in extractions_of(turn):
            code = codes.get(id(found))
            same = code.same if code else _named_same(conversation, turn, found)
            if same is not None:
                yield Pairing(
                    unit=conversation["id"],
                    field=field,
                    entity=found["entity"],
                    attribute=owned(found["entity"], found["attribute"]) or "",
                    value=found["value"],
                    text=found["text"],
                    same=same,
                )


def _named_same(
    conversation: Conversation, turn: dict[str, Any], found: dict[str, Any]
) -> bool | None:
    """By the values alone, for an extraction that nobody labelled; None where they do not tell."""
    named = any(named_in(value, found["value"]) for value in values_of(conversation))
    marked = turn.get("mark") is not None
    if named:
        return found["entity"] == "user" or marked
    return None if marked and found["entity"] == "user" else False
