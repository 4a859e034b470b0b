"""A message that says it has not decided reports nothing, whichever sentence names the value."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from memgate_core import MemoryGate
from memgate_core.model import FieldSpec

GROOMER = FieldSpec(attribute="dog_groomer", description="who grooms the user's dog")
FIRST = datetime(2025, 1, 6, tzinfo=UTC)
LATER = datetime(2025, 3, 6, tzinfo=UTC)


def proposal(value: str, span: str, attribute: str = "dog_groomer") -> dict[str, Any]:
    return {
        "entity": "user",
        "attribute": attribute,
        "value": value,
        "text": f"User has {value} as dog groomer",
        "span": span,
    }


def told(
    gate: MemoryGate, text: str, at: datetime, found: dict[str, Any]
) -> tuple[str | None, Any]:
    gate.observe(gate.turn(text, user_id="ana", occurred_at=at), [found])
    profile = gate.profile("ana")
    fact = profile.current("dog_groomer")
    return (fact.value if fact else None), [item.value for item in profile.staged()]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "Paws on Tide has a van now, parks outside. I go back and forth about it.",
            proposal("Paws on Tide", "Paws on Tide has a van now"),
        ),
        (
            "It's loyalty versus the mud, so no idea.",
            proposal("undecided between Millie and Paws on Tide", "loyalty versus the mud"),
        ),
        (
            "Millie is dear, Paws on Tide is near.",
            proposal("Paws on Tide", "Paws on Tide is near", "groomer_change_consideration"),
        ),
    ],
)
def test_what_is_weighed_is_held(text: str, found: dict[str, Any]) -> None:
    with MemoryGate.open("sqlite://", fields=[GROOMER]) as gate:
        told(
            gate,
            "Our dog groomer is Millie.",
            FIRST,
            proposal("Millie", "Our dog groomer is Millie"),
        )
        current, held = told(gate, text, LATER, found)
    assert current == "Millie"
    assert "Paws on Tide" in held
