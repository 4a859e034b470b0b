"""Words of a put that stand, letter for letter, in a message that the gate has judged already.

They are the user's own, whoever puts them: the judgement of that message holds for them, and none
is made anew. A paraphrase has no such message and gets no such treatment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from memgate_core.forwarding import forwardable, merged
from memgate_core.ledger.protocol import TurnRecord
from memgate_core.model import Judged, Role, Source, Span

_EDGE = " \t\r\n.!?…\"'“”‘’"


@dataclass(frozen=True)
class Said:
    """Where a put's words stand in a recorded message of the user's."""

    record: TurnRecord
    span: Span

    @property
    def kept(self) -> str | None:
        """What of the words may be stored, None when nothing may."""
        return forwardable(self._words, self._inside(self._withheld()))

    @property
    def whole(self) -> bool:
        """True when all of the words may be stored."""
        return not self._inside(self._withheld())

    @property
    def facts(self) -> list[Judged]:
        """Judgements of the message that made facts of these words."""
        return [
            judged
            for judged in self.record.receipt.judged
            if judged.fact_id is not None
            and judged.decision.decision.writes
            and judged.candidate.evidence.span.overlaps(self.span)
        ]

    @property
    def beside_facts(self) -> str:
        """What of the kept words no fact rests on: chatter."""
        stated = [judged.candidate.evidence.span for judged in self.facts]
        gone = self._inside([*stated, *self._withheld()])
        return forwardable(self._words, gone) or ""

    @property
    def _words(self) -> str:
        return self.span.of(self.record.text)

    def _withheld(self) -> list[Span]:
        receipt = self.record.receipt
        return [] if receipt.shadow else list(receipt.withheld)

    def _inside(self, spans: Iterable[Span]) -> tuple[Span, ...]:
        """The spans as far as they overlap the words, counted from their start."""
        start, end = self.span.start, self.span.end
        return merged(
            Span(start=max(one.start, start) - start, end=min(one.end, end) - start)
            for one in spans
            if one.overlaps(self.span)
        )


def said_in(text: str, records: Iterable[TurnRecord]) -> Said | None:
    """The newest of the user's messages that has all the words of `text` in a row.

    Case, the space between words and the marks around the whole make no difference.
    """
    words = text.strip(_EDGE).split()
    if not words:
        return None
    pattern = re.compile(r"(?<!\w)" + r"\s+".join(map(re.escape, words)) + r"(?!\w)", re.IGNORECASE)
    for record in sorted(records, key=lambda r: (r.occurred_at, r.position), reverse=True):
        found = pattern.search(record.text) if _is_the_users(record) else None
        if found is not None:
            return Said(record, Span(start=found.start(), end=found.end()))
    return None


def _is_the_users(record: TurnRecord) -> bool:
    return record.role is Role.USER and record.source is Source.USER and not record.taint
