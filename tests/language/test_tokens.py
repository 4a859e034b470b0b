"""Tokens with their places."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgate_core.language.frames import attribute_words, is_framed, unframed
from memgate_core.language.tokens import fold, tokenise


@pytest.mark.parametrize(
    ("text", "lows"),
    [
        ("I’m off", ["i", "'m", "off"]),
        ("dont you", ["do", "n't", "you"]),
        ("it's Kieran's", ["it", "'s", "kieran", "'s"]),
        ("an e-reader at 9:40", ["an", "e-reader", "at", "9:40"]),
        ("can't. won't", ["ca", "n't", ".", "wo", "n't"]),
        ("the 8th…", ["the", "8th", "…"]),
        ("mail a.b@c.example now", ["mail", "a.b@c.example", "now"]),
    ],
)
def test_contractions_come_apart(text: str, lows: list[str]) -> None:
    assert [token.low for token in tokenise(text)] == lows


@given(st.text(max_size=100))
def test_offsets_are_true(text: str) -> None:
    at = 0
    for token in tokenise(text):
        assert text[token.start : token.end] == token.text
        assert token.start >= at
        at = token.end


def test_pasted_data_does_not_fill_the_caches() -> None:
    (token,) = tokenise("a" * 100_000)
    assert len(token.low) <= 60


def test_folding() -> None:
    assert fold("Škoda Café") == "skoda cafe"


def test_attribute_words_in_every_spelling() -> None:
    assert attribute_words("homeCity") == attribute_words("User's Home-City") == ("home", "city")


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("grocery_change_plan", ("grocery_change", "grocery")),
        ("conditional_bag_interest", ("bag",)),
        ("next_e_reader_plan", ("next_e_reader", "e_reader")),
        ("home_city", ()),
        ("plan", ()),
    ],
)
def test_plan_frames_come_off_in_steps(name: str, steps: tuple[str, ...]) -> None:
    assert unframed(name) == steps
    assert is_framed(name) == ("plan" in name or "conditional" in name)
