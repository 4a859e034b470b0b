"""Step 3 of a turn: what must not be kept at all, and what is not the user's own.

Secrets, payment data and orders in foreign text are refused before anything is stored, staging
included. A refusal keeps the place, a reason code and a keyed hash: never the words.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from secrets import token_bytes

from memgate_core.language.tokens import fold
from memgate_core.model import Candidate, Model, Role, Span, Turn
from memgate_core.screening.access import told_access
from memgate_core.screening.credentials import spoken_credentials
from memgate_core.screening.finding import Finding, without_overlaps
from memgate_core.screening.payment import payment_data
from memgate_core.screening.secrets import machine_secrets
from memgate_core.screening.taint import foreign_spans, is_foreign, labels_of, orders_in

MASK = "█"
"""Stands for each refused character, so that offsets into the message stay true."""
_SHORTEST = 3
"""A refused value shorter than this is not looked for elsewhere: it would match anything."""


class Refusal(Model):
    """One refused stretch of a message. Safe to store and to log."""

    span: Span
    reason: str
    """`secret.*`, `payment.*` or `taint.order`."""
    digest: str
    """Hex HMAC-SHA256 of the words under the screener's key: a PIN cannot be guessed back."""


@dataclass(frozen=True)
class Screening:
    """What a screener found in one turn. Holds refused words in memory only, never in its repr."""

    refusals: tuple[Refusal, ...]
    taint: frozenset[str]
    tainted: tuple[Span, ...]
    """Ranges that are not the user's own words."""
    length: int
    spoken_for: int
    """Letters and digits outside every refused range; the whole length where nothing is refused."""
    _words: frozenset[str] = field(default=frozenset(), repr=False)

    @property
    def refused(self) -> tuple[Span, ...]:
        """The refused ranges, in order and disjoint."""
        return tuple(refusal.span for refusal in self.refusals)

    @property
    def all_refused(self) -> bool:
        """True when nothing but refused words stands in the message."""
        return bool(self.refusals) and self.spoken_for == 0

    def refuses(self, span: Span) -> bool:
        """True when the span touches refused words."""
        return any(refusal.span.overlaps(span) for refusal in self.refusals)

    def refuses_value(self, value: str | None) -> bool:
        """True when a value repeats refused words or is a secret by itself."""
        if not value:
            return False
        folded = fold(value)
        return any(word in folded for word in self._words) or bool(_secrets_in(value))

    def reason_of(self, span: Span) -> str | None:
        """The reason code of the first refusal that touches the span."""
        found = (r.reason for r in self.refusals if r.span.overlaps(span))
        return next(found, None)

    def taints(self, span: Span) -> bool:
        """True when the span rests, in part, on words that are not the user's own."""
        return any(tainted.overlaps(span) for tainted in self.tainted)


class Screener:
    """Finds secrets, payment data and foreign words. No network, no model.

    `key` is what refused words are hashed under; give one from your configuration to recognise
    the same secret across restarts. Without it a random key of this process is used.
    """

    name = "screener/1"

    def __init__(self, *, key: bytes | None = None) -> None:
        self._key = key if key is not None else token_bytes(32)

    def screen(self, turn: Turn, candidates: Sequence[Candidate] = ()) -> Screening:
        """Screens the turn's text, and the values its candidates carry."""
        foreign = foreign_spans(turn)
        found = [*_secrets_in(turn.text, _asked(turn)), *orders_in(turn, foreign)]
        found += list(_repeats(turn.text, found))
        found += _values_in(turn.text, candidates)
        findings = without_overlaps(found)
        return Screening(
            refusals=tuple(self._refusal(turn.text, finding) for finding in findings),
            taint=labels_of(turn, foreign),
            tainted=tuple(foreign),
            length=len(turn.text),
            spoken_for=_left_over(turn.text, findings),
            _words=_secret_words(turn.text, findings),
        )

    def secret_in(self, text: str) -> bool:
        """True when the text holds a credential or payment data."""
        return bool(_secrets_in(text))

    def _refusal(self, text: str, finding: Finding) -> Refusal:
        words = text[finding.start : finding.end].encode("utf-8", "surrogatepass")
        return Refusal(
            span=Span(start=finding.start, end=finding.end),
            reason=finding.reason,
            digest=hmac.new(self._key, words, "sha256").hexdigest(),
        )


def mask(text: str, spans: Iterable[Span], filler: str = MASK) -> str:
    """The text with each span overwritten, character by character, so that offsets stay true."""
    out = list(text)
    for span in spans:
        for at in range(span.start, min(span.end, len(out))):
            out[at] = filler
    return "".join(out)


def _secrets_in(text: str, asked: str | None = None) -> list[Finding]:
    told = spoken_credentials(text, asked)
    return [*machine_secrets(text), *payment_data(text), *told, *told_access(text)]


def _asked(turn: Turn) -> str | None:
    """The assistant's line that this turn answers."""
    if is_foreign(turn) or not turn.history or turn.history[-1].role is not Role.ASSISTANT:
        return None
    return turn.history[-1].content


def _repeats(text: str, found: Sequence[Finding]) -> Iterator[Finding]:
    """The same secret said once more, without its keyword; each is looked for once."""
    reasons: dict[str, str] = {}
    for finding in found:
        words = text[finding.start : finding.end]
        if not finding.reason.startswith("taint.") and len(words) > _SHORTEST:
            reasons.setdefault(words, finding.reason)
    for words, reason in reasons.items():
        at = text.find(words)
        while at >= 0:
            yield Finding(at, at + len(words), reason)
            at = text.find(words, at + len(words))


def _values_in(text: str, candidates: Sequence[Candidate]) -> Iterator[Finding]:
    """A candidate whose own value is a secret: its words are refused where they stand."""
    for candidate in candidates:
        value = candidate.value
        if value and value != candidate.words and _secrets_in(value):
            at = text.find(value)
            if at >= 0:
                yield Finding(at, at + len(value), "secret.token")


def _secret_words(text: str, findings: Sequence[Finding]) -> frozenset[str]:
    words = (fold(text[f.start : f.end]) for f in findings if not f.reason.startswith("taint."))
    return frozenset(word for word in words if len(word) > _SHORTEST)


def _left_over(text: str, findings: Sequence[Finding]) -> int:
    if not findings:
        return len(text)
    left, at = 0, 0
    for finding in [*findings, Finding(len(text), len(text), "")]:
        left += sum(ch.isalnum() for ch in text[at : finding.start])
        at = finding.end
    return left
