"""Open keys: what stays the same while tense, hedge and value change."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgate_core.extraction.open_key import open_key


@pytest.mark.parametrize(
    "told",
    [
        [
            "I might sell the piano",
            "thinking about selling the piano",
            "we're selling our old piano next month",
            "I finally sold the piano!",
            "If we move I'll sell the piano",
            "the plan is to sell the piano",
        ],
        ["I ought to renew the allotment lease next week.", "Lease is renewed."],
        ["I prefer aisle seats", "prefers window seats"],
        ["The orchard has 40 trees.", "The orchard has 46 trees."],
        ["maybe we'll move to Porto", "moved to Ghent last week", "I think we'll move"],
        ["might switch to oat milk", "we switched to soy milk"],
        ["I'd like to get a new vet", "got a new vet"],
    ],
)
def test_a_plan_and_its_outcome_share_a_key(told: list[str]) -> None:
    assert len({open_key(words) for words in told}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I sold the piano", "I sold the van"),
        ("I sold the piano", "I bought the piano"),
        ("The orchard has 40 trees", "The garden has 40 trees"),
        ("I'm a nurse", "I'm tired"),
    ],
)
def test_different_things_have_different_keys(one: str, other: str) -> None:
    assert open_key(one) != open_key(other)


def test_names_and_numbers_stay_out() -> None:
    key = open_key("I moved to Seattle with 3 cats")
    assert "seattle" not in key
    assert "3" not in key


def test_another_persons_key_is_their_own() -> None:
    words = "my cousin Wren can't stand olives"
    assert open_key(words, entity="cousin Wren") == "cousin-wren:stand:olive"
    assert open_key(words, entity="cousin Wren") != open_key("I can't stand olives")


def test_a_named_attribute_is_the_key_without_its_plan_frame() -> None:
    keys = {open_key("x", attribute=a) for a in ("exam", "exam_plan", "conditional_exam_interest")}
    assert keys == {"exam"}


@given(st.text(max_size=60))
def test_any_words_have_a_short_key(words: str) -> None:
    key = open_key(words)
    assert key
    assert len(key) <= 80
    assert "@" not in key
