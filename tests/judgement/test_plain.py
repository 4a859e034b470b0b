"""Which sentences are the user's own without a model to say so."""

from __future__ import annotations

import pytest

from memgate_core.judgement.plain import is_plainly_own
from tests.support.build import make_turn

OWN = ["I live in Leeds", "we're in Leeds now", "ok so I'm in Leeds", "my city is Leeds"]
NOT_OWN = [
    "Weather in Leeds is awful",
    "West Leeds is quieter",
    "Its in Leeds, the shop",
    "Ikea in Leeds opened",
    "my cityscape shows Leeds",
]


@pytest.mark.parametrize("text", OWN)
def test_a_short_sentence_in_the_first_person_is(text: str) -> None:
    assert is_plainly_own(make_turn(text), text, "Leeds")


@pytest.mark.parametrize("text", NOT_OWN)
def test_a_word_that_only_begins_like_it_is_not(text: str) -> None:
    assert not is_plainly_own(make_turn(text), text, "Leeds")
