"""Step 3 of a turn: what may never be stored, and whose words are not the user's.

Refused spans are masked before anything is written, held items included; a refusal keeps a hash,
never the words (article: passwords, tokens and payment data are rejected outright).
"""

from __future__ import annotations

from collections.abc import Sequence

from memgate_core.model import Candidate, Model, Source, Span, Turn, sha256_of
from memgate_core.screening.payment import payment_spans
from memgate_core.screening.secrets import secret_spans
from memgate_core.screening.taint import foreign_spans

MASK = "█"
"""Stands for each refused character, so that offsets into the message stay true."""


class Refusal(Model):
    """One refused span: why, where, and a hash that lets a person recognise it again."""

    reason: str
    span: Span
    sha256: str


class Screening(Model):
    """What the screener found in one turn."""

    refusals: tuple[Refusal, ...] = ()
    foreign: tuple[Span, ...] = ()
    """Pasted, quoted or commanding words that are not the user's own statement."""
    whole: bool = False
    """True when the whole message is a tool's or a page's."""
    values: frozenset[str] = frozenset()
    """Hashes of refused words, to recognise them in an extractor's value."""

    @property
    def refused(self) -> tuple[Span, ...]:
        """Spans that are masked before storing."""
        return tuple(refusal.span for refusal in self.refusals)

    @property
    def all_refused(self) -> bool:
        """True when nothing of the message can become a fact."""
        return self.whole

    def refuses(self, span: Span) -> bool:
        """True when the span holds a secret."""
        return any(span.overlaps(refusal.span) for refusal in self.refusals)

    def refuses_value(self, value: str | None) -> bool:
        """True when an extractor's value is one of the refused words."""
        return value is not None and sha256_of(value.strip()) in self.values

    def taints(self, span: Span) -> bool:
        """True when most of the span is foreign words."""
        if self.whole:
            return True
        covered = sum(max(0, min(span.end, f.end) - max(span.start, f.start)) for f in self.foreign)
        return 2 * covered > span.end - span.start


class Screener:
    """Finds secrets, payment data and foreign words. Local, deterministic, no network."""

    name = "screener-1"

    def screen(self, turn: Turn, candidates: Sequence[Candidate] = ()) -> Screening:
        """Screens the message and the values that extractors proposed for it."""
        refusals = self._refusals(turn.text)
        for candidate in candidates:
            value = candidate.value or ""
            if value and self.secret_in(value) and not _covers(refusals, candidate):
                refusals.append(_refusal("secret_value", candidate.evidence.span, turn.text))
        return Screening(
            refusals=tuple(refusals),
            foreign=() if turn.source is not Source.USER else tuple(foreign_spans(turn.text)),
            whole=turn.source in (Source.TOOL, Source.WEB),
            values=frozenset(refusal.sha256 for refusal in refusals),
        )

    def secret_in(self, text: str) -> bool:
        """True when the text holds a credential or payment data."""
        return bool(self._refusals(text))

    def _refusals(self, text: str) -> list[Refusal]:
        found = [_refusal(reason, span, text) for reason, span in secret_spans(text)]
        return found + [_refusal(reason, span, text) for reason, span in payment_spans(text)]


def mask(text: str, spans: Sequence[Span]) -> str:
    """`text` with every character of the spans masked; its length stays the same."""
    letters = list(text)
    for span in spans:
        letters[span.start : span.end] = MASK * (span.end - span.start)
    return "".join(letters)


def _refusal(reason: str, span: Span, text: str) -> Refusal:
    return Refusal(reason=reason, span=span, sha256=sha256_of(span.of(text)))


def _covers(refusals: Sequence[Refusal], candidate: Candidate) -> bool:
    return any(refusal.span.overlaps(candidate.evidence.span) for refusal in refusals)
