"""Which statements of an assistant's message repeat what is held, and so must not be forwarded."""

from __future__ import annotations

from collections.abc import Sequence

from memgate_core.fields.values import same_value
from memgate_core.ledger.protocol import Ledger
from memgate_core.ledger.terms import terms_of
from memgate_core.model import Span, StagedItem, Turn
from memgate_core.settling import MAX_ITEMS


def echoes(turn: Turn, statements: Sequence[Span], ledger: Ledger) -> list[Span]:
    """Spans of `turn` that speak of an item held for the same subject.

    The frameworks' extractors read assistant lines too; "Seattle would suit you" beside a held
    move to Seattle is how a plan slips back in.
    """
    items = ledger.touched(turn.subject, terms_of(turn.text), session=turn.session, limit=MAX_ITEMS)
    return [span for span in statements if any(_speaks_of(span.of(turn.text), i) for i in items)]


def _speaks_of(words: str, item: StagedItem) -> bool:
    if item.value is not None and same_value(item.value, words):
        return True
    wanted = terms_of(item.text)
    shared = wanted & terms_of(words)
    return bool(wanted) and len(shared) >= max(1, (len(wanted) + 1) // 2)
