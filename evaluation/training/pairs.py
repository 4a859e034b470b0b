"""Candidates beside fields, from the plan conversations: are they the same slot?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from memgate_core.judgement.matching import owned
from memgate_core.model import FieldSpec

Conversation = dict[str, Any]
"""A conversation in the plans format (formats.md section 2)."""


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
    field, values = field_of(conversation), values_of(conversation)
    for turn, _ in user_turns(conversation):
        for found in _candidates(turn):
            named = any(named_in(value, found["value"]) for value in values)
            same = named and (found["entity"] == "user" or turn.get("mark") is not None)
            unclear = not named and turn.get("mark") is not None and found["entity"] == "user"
            if not unclear:
                yield Pairing(
                    unit=conversation["id"],
                    field=field,
                    entity=found["entity"],
                    attribute=owned(found["entity"], found["attribute"]) or "",
                    value=found["value"],
                    text=found["text"],
                    same=same,
                )


def _candidates(turn: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for style in ("literal", "cautious"):
        yield from turn.get("extractions", {}).get(style, ())
