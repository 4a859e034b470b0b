"""A statement costs the same wherever it stands: no text is tokenised beyond what is shown of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgate_core.judgement.encoder import Encoders
from memgate_core.judgement.inputs import Budget
from memgate_core.model import FieldSpec, HistoryTurn, Role, Span, Statement

_LAYOUT = Encoders().layout
_WORDS = st.sampled_from(
    ["a", "I", "might", "ünïversity", "don't", "x" * 60, "😀", "東京へ", "…", "3.14", "ch-ch-ch"]
)
_GAPS = st.sampled_from([" ", "  ", "\n", "\t", ", ", " - ", "\u00a0"])
_TEXTS = st.lists(st.tuples(_WORDS, _GAPS), max_size=400).map(
    lambda parts: "".join(word + gap for word, gap in parts)
)


@given(text=_TEXTS, count=st.sampled_from([1, 8, 14, 32, 80]))
def test_the_ends_of_a_text_are_those_of_the_whole(text: str, count: int) -> None:
    whole = _LAYOUT.piece(text)
    assert _LAYOUT.head(text, count) == whole.head(count)
    assert _LAYOUT.tail(text, count) == whole.tail(count)


@pytest.mark.parametrize(
    "sentence", ["The weir opens when the snow melts. ", "堰は雪が溶けると開きます。", "ฝายเปิด"]
)
def test_a_statement_costs_the_same_in_any_script(sentence: str) -> None:
    layout = Encoders().layout
    asked: list[int] = []
    piece = layout.piece
    layout.piece = lambda text: asked.append(len(text)) or piece(text)  # type: ignore[method-assign,func-returns-value]
    message = sentence * 2_000
    statement = Statement(
        text=sentence,
        message=message,
        history=(HistoryTurn(role=Role.ASSISTANT, content=message),),
        start=len(sentence) * 1_000,
    )
    row = layout.statement(statement, Budget(around=8, before=14, earlier=0, row=40))
    assert len(row.ids) >= 8
    assert max(asked) <= 14 * 16 * 8


def test_a_value_far_into_a_message_is_seen_where_it_stands() -> None:
    layout = Encoders().layout
    opening = "We talked about the allotment and the rain for a while. " * 10
    text = opening + "Somebody else I met lives in Leeds."
    at = text.index("Leeds")
    field = FieldSpec(attribute="home_city", description="the town where the user lives")
    row = layout.claim(field, None, "Leeds", text, Role.USER, (), Span(start=at, end=at + 5))
    marked = [place for place, kind in zip(row.places, row.types, strict=True) if kind == 1]
    assert marked == [(-1, at, at + 5)]
    assert len(row.ids) < 120
    shown = [place for place in row.places if place is not None]
    assert text[shown[0][1] : shown[-1][2]].endswith("Somebody else I met lives in Leeds.")
