"""Whose statement it is."""

from __future__ import annotations

import pytest

from memgate_core.extraction.clauses import split
from memgate_core.extraction.subject import SubjectTracker, subject_of
from memgate_core.model import Role


def owners(message: str, role: Role = Role.USER) -> list[str]:
    tracker = SubjectTracker(role)
    return [tracker.entity_of(clause.text) for clause in split(message)]


@pytest.mark.parametrize(
    "words",
    [
        "I might sell the piano",
        "we finally moved",
        "sold it",
        "my knee hurts",
        "my wife and I moved to Gent",
        "My partner is Luc",
        "Noor's my fiancée",
        "our dog is called Biscuit",
        "the orchard has 40 trees",
        "Lease is renewed",
        "my dentist is Dr Achebe",
        "Kieran walks my dog",
        "Dr. Okafor came to the house for us",
        "Arup hired me",
        "you can call me Sam",
        "Muddy Mutts take over the walks on Monday",
        "it rained",
    ],
)
def test_the_users_own(words: str) -> None:
    assert subject_of(words) == "user"


@pytest.mark.parametrize(
    ("words", "entity"),
    [
        ("my cousin Wren can't stand olives", "cousin Wren"),
        ("my colleague lives in Beijing", "colleague"),
        ("mum's moving to Spain", "mum"),
        ("upstairs neighbour practises the trombone", "upstairs neighbour"),
        ("the young fella's off to uni", "young fella"),
        ("Priya is vegan", "Priya"),
        ("Grace lives in Bonn", "Grace"),
        ("Will moved out", "Will"),
        ("Ravi has mubi and hosts on fridays", "Ravi"),
        ("my dentist loves olives", "dentist"),
        ("someone at work lives in Leeds", "someone"),
        ("my boss says he's moving", "boss"),
        ("her name is Zoe", "she"),
        ("you said it was fine", "assistant"),
    ],
)
def test_somebody_elses(words: str, entity: str) -> None:
    assert subject_of(words) == entity


def test_a_pronoun_goes_back_to_whom_the_message_spoke_of() -> None:
    assert owners("My cousin Wren can't stand olives, she sends them back.") == ["cousin Wren"] * 2
    assert owners("I carpool with Denise. She has heated seats, and I'm weak.") == [
        "user",
        "Denise",
        "user",
    ]
    assert owners("my parents moved to Spain. They love it.") == ["parents", "parents"]


def test_pets_are_the_users() -> None:
    assert (
        owners("Our dog Biscuit is nine. He eats everything. Biscuit hates rain.") == ["user"] * 3
    )


def test_an_assistant_speaks_of_the_user_as_you() -> None:
    assert owners("You live in Shanghai. I looked it up.", Role.ASSISTANT) == ["user", "assistant"]
