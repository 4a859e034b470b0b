"""Questions are laid out the same way whoever asks, with what they are about marked."""

from __future__ import annotations

import pytest

from memgate_core.judgement.encoder import Encoders
from memgate_core.judgement.inputs import Budget, Layout
from memgate_core.model import FieldSpec, HistoryTurn, Role, Span, Statement

FIELD = FieldSpec(attribute="home_city", description="the town where the user lives")


@pytest.fixture(scope="module")
def layout() -> Layout:
    return Encoders().layout


def marked(layout: Layout, ids: tuple[int, ...], types: tuple[int, ...]) -> list[int]:
    return [token for token, kind in zip(ids, types, strict=True) if kind == 1]


def test_the_statement_alone_is_marked(layout: Layout) -> None:
    statement = Statement(
        text="I might move",
        message="hi there. I might move. bye",
        history=(HistoryTurn(role=Role.ASSISTANT, content="any news?"),),
        start=10,
    )
    row = layout.statement(statement, Budget())
    assert marked(layout, row.ids, row.types) == list(layout.piece("I might move").ids)
    assert set(layout.piece("any news?").ids) <= set(row.ids)


def test_a_repeated_phrase_is_judged_in_its_own_place(layout: Layout) -> None:
    message = "maybe. no wait, maybe."
    first = layout.statement(Statement(text="maybe.", message=message, start=0), Budget())
    second = layout.statement(Statement(text="maybe.", message=message, start=16), Budget())
    assert first.ids == second.ids
    assert first.types != second.types


def test_a_budget_bounds_the_context(layout: Layout) -> None:
    statement = Statement(
        text="ok", message="ok", history=(HistoryTurn(role=Role.USER, content="word " * 500),)
    )
    assert len(layout.statement(statement, Budget(around=4, before=8, earlier=0)).ids) <= 13


def test_words_that_are_not_in_the_message_are_judged_alone(layout: Layout) -> None:
    row = layout.statement(Statement(text="User lives in Leeds", message="abc"), Budget())
    assert marked(layout, row.ids, row.types) == list(layout.piece("User lives in Leeds").ids)


def test_a_claim_marks_the_value_where_it_stands(layout: Layout) -> None:
    text = "We live in Saltaire now"
    row = layout.claim(FIELD, None, "Saltaire", text, Role.USER, (), Span(start=11, end=19))
    assert marked(layout, row.ids, row.types) == list(layout.piece(text).ids[3:-1])


def test_places_lead_back_to_the_words(layout: Layout) -> None:
    history = (HistoryTurn(role=Role.ASSISTANT, content="You drive a Zoe, right?"),)
    row = layout.claim(FIELD, "Leeds", None, "correct", Role.USER, history)
    spots = [place for place in row.places if place is not None]
    assert {place[0] for place in spots} == {-1, 0}
    assert all(
        (history[number].content if number >= 0 else "correct")[start:end].strip()
        for number, start, end in spots
    )
