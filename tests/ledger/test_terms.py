"""Terms: what a held item is found by."""

from __future__ import annotations

import pytest

from memgate_core.ledger.terms import MAX_TERM_LENGTH, MAX_TERMS, item_terms, terms_of
from tests.support.build import make_staged


@pytest.mark.parametrize(
    ("plan", "outcome"),
    [
        ("might sell the piano", "Sold it"),
        ("thinking of buying a van", "we bought it on Friday"),
        ("planning to adopt two kittens", "the kitten sleeps on my desk"),
        ("may move house", "moving was hell"),
        ("I'd like to run a marathon", "ran it in 4:12"),
        ("Might take the bus", "took the 38 today"),
        ("le café", "Café was closed"),
        ("my dad’s flat", "dad's flat is let"),
        ("京都に行くかも", "京都は寒かった"),
    ],
)
def test_a_plan_and_its_outcome_share_a_term(plan: str, outcome: str) -> None:
    assert terms_of(plan) & terms_of(outcome)


@pytest.mark.parametrize("text", ["", "I might have been going to", "ok, thanks!", "… — ?!"])
def test_function_words_are_no_terms(text: str) -> None:
    assert terms_of(text) == frozenset()


def test_numbers_are_terms() -> None:
    assert terms_of("the 9:40 train") >= {"9", "40"}


def test_terms_are_bounded() -> None:
    long = terms_of(" ".join(f"word{number}" for number in range(5000)))
    assert len(long) == MAX_TERMS
    assert max(len(term) for term in terms_of("x" * 10_000)) <= MAX_TERM_LENGTH


def test_an_item_is_found_by_all_its_parts() -> None:
    item = make_staged("Saltaire", attribute="home_city", text="lives in Saltaire")
    assert item_terms(item) >= terms_of("Saltaire home city lives move")
