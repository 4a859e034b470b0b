"""A statement costs the same wherever it stands: no text is tokenised beyond what is shown of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memgate_core.judgement.encoder import Encoders
from memgate_core.judgement.inputs import Budget
from memgate_core.model import HistoryTurn, Role, Statement

_LAYOUT = Encoders().layout
_WORDS = st.sampled_from(
    ["a", "I", "might", "ünïversity", "don't", "x" * 130, "😀", "東京へ", "…", "3.14", "ch-ch-ch"]
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


def test_no_more_of_a_long_message_is_tokenised_than_is_shown() -> None:
    layout = Encoders().layout
    asked: list[int] = []
    piece = layout.piece

    def watched(text: str) -> object:
        asked.append(len(text))
        return piece(text)

    layout.piece = watched  # type: ignore[assignment]
    message = "The weir opens when the snow melts. " * 30_000
    statement = Statement(
        text="The weir opens when the snow melts.",
        message=message,
        history=(HistoryTurn(role=Role.ASSISTANT, content=message),),
        start=36 * 15_000,
    )
    row = layout.statement(statement, Budget(around=8, before=14, earlier=0, row=40))
    assert len(row.ids) > 30
    assert max(asked) < 1_000
