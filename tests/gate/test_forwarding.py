"""What may go on to the framework once held words are out."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgate_core.forwarding import forwardable, merged, widened
from memgate_core.model import Span


def span(text: str, words: str) -> Span:
    start = text.index(words)
    return Span(start=start, end=start + len(words))


@pytest.mark.parametrize(
    ("text", "held", "kept"),
    [
        (
            "I've been thinking about maybe moving to Seattle, my dad lives there.",
            "I've been thinking about maybe moving to Seattle",
            "my dad lives in Seattle.",
        ),
        ("I might move, and I like tea.", "I might move", "I like tea."),
        ("I like tea. I might move.", "I might move.", "I like tea."),
        ("I might move to Seattle.", "I might move to Seattle.", None),
        (
            "I might go to Rome or to Oslo, she was there.",
            "I might go to Rome or to Oslo",
            "she was there.",
        ),
        ("Great!! I might move...", "I might move...", "Great!!"),
    ],
)
def test_held_words_are_out_and_the_rest_reads_well(text: str, held: str, kept: str | None) -> None:
    assert forwardable(text, [span(text, held)]) == kept


def test_nothing_withheld_is_the_very_same_text() -> None:
    text = "  I like tea ,  and you?\n"
    assert forwardable(text, []) is text


def test_half_a_sentence_takes_the_whole_statement_with_it() -> None:
    statements = [Span(start=0, end=10), Span(start=11, end=20)]
    assert widened([Span(start=4, end=6)], statements) == (Span(start=0, end=10),)


@given(
    st.text(max_size=60), st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=5)
)
def test_no_withheld_word_survives(text: str, edges: list[tuple[int, int]]) -> None:
    marked = "".join(ch for ch in text if not ch.isalnum())
    spans = merged(Span(start=min(e), end=max(e)) for e in edges if max(e) <= len(marked))
    filled = list(marked)
    for gap in spans:
        filled[gap.start : gap.end] = "Q" * (gap.end - gap.start)
    assert "Q" not in (forwardable("".join(filled), spans) or "")


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), max_size=8))
def test_merging_keeps_exactly_the_same_characters(edges: list[tuple[int, int]]) -> None:
    spans = [Span(start=min(e), end=max(e)) for e in edges]
    before = {i for s in spans for i in range(s.start, s.end)}
    out = merged(spans)
    assert {i for s in out for i in range(s.start, s.end)} == before
    assert all(a.end < b.start for a, b in itertools.pairwise(out))
