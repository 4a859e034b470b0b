"""An extractor's proposals laid on the words of the message they rest on.

No extractor may vouch for itself: a candidate gets the exact span it named when that is in the
message, else the statements that carry its words, and says honestly when even that is a guess.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from memgate_core.extraction.clauses import Clause, split
from memgate_core.extraction.local import ORDINALS_PER_CLAUSE
from memgate_core.extraction.proposals import RawProposal, owner_of, read_proposal
from memgate_core.language.lexicon import noun_lemma, verb_readings
from memgate_core.language.tokens import fold, lower, tokenise, words_of
from memgate_core.language.words import STOPWORDS, word_set
from memgate_core.model import Candidate, Evidence, Span, Turn

EXTRACTOR = "proposals/1"
_CARRIED = 0.6
"""Share of a proposal's content words that a statement must hold to count as its source."""
_NEAR = 88.0
"""Similarity (0 to 100) from which two spellings count as one word, or a span as found."""
_FRAMING = word_set(
    "user consider plan think want mention state report say express indicate intend hope interest"
    " possible potential likely currently recently previously now date 2024 2025 2026 2027"
)
"""Words that extractors add of their own."""


class _Place(NamedTuple):
    span: Span
    carried: float
    """How much of the proposal the place says, 0 to 1."""
    exact: bool


@dataclass(frozen=True)
class _Message:
    """A message and its statements; what every proposal is held against is read once."""

    text: str
    clauses: tuple[Clause, ...]

    @cached_property
    def contents(self) -> tuple[frozenset[str], ...]:
        """The content words of each clause."""
        return tuple(_content(clause.text) for clause in self.clauses)

    @cached_property
    def runs(self) -> tuple[tuple[Span, frozenset[str]], ...]:
        """Each statement, and each two in a row, with its content words."""
        return tuple((span, _content(span.of(self.text))) for span in _runs(self.clauses))


def align(
    turn: Turn, proposals: Sequence[object], *, extractor: str = EXTRACTOR
) -> list[Candidate]:
    """Candidates for the proposals, in their order, each with evidence in the turn's text.

    A proposal is a mapping (or object) with entity, attribute, value, text and optional span.
    `aligned` is False on a candidate whose words had to be guessed. A message without words gives
    no candidates.

    Raises:
        InvalidInputError: a proposal without text, value and span, or with a structure for one.
    """
    message = _Message(turn.text, tuple(split(turn.text)))
    if not message.clauses:
        return []
    raws = [read_proposal(proposal, index) for index, proposal in enumerate(proposals)]
    places = [_place(message, raw) for raw in raws]
    ordinals = _ordinals(turn.text, message.clauses, raws, places)
    return [
        _candidate(turn, raw, place, ordinal, extractor)
        for raw, place, ordinal in zip(raws, places, ordinals, strict=True)
    ]


def _candidate(
    turn: Turn, raw: RawProposal, place: _Place, ordinal: int, extractor: str
) -> Candidate:
    words = place.span.of(turn.text)
    owner = owner_of(raw, words, turn)
    return Candidate(
        entity=owner.entity,
        attribute=owner.attribute,
        value=raw.value or None,
        text=raw.text or words,
        words=words,
        evidence=Evidence.of(turn, place.span),
        ordinal=ordinal,
        extractor=extractor,
        confidence=raw.confidence,
        aligned=place.exact or place.carried >= _CARRIED,
    )


def _ordinals(
    text: str, clauses: Sequence[Clause], raws: Sequence[RawProposal], places: Sequence[_Place]
) -> list[int]:
    """Clause position first; equal slots on one clause are told apart by where their value stands.

    Neither the value itself nor the order of the proposals takes part (article).
    """
    slots = [
        (_clause_at(clauses, place.span), raw.entity or "", raw.attribute or "")
        for raw, place in zip(raws, places, strict=True)
    ]
    order = sorted(range(len(raws)), key=lambda i: _value_at(text, raws[i], places[i]))
    seen: Counter[tuple[int, str, str]] = Counter()
    ordinals = [0] * len(raws)
    for i in order:
        ordinals[i] = slots[i][0] * ORDINALS_PER_CLAUSE + min(
            seen[slots[i]], ORDINALS_PER_CLAUSE - 1
        )
        seen[slots[i]] += 1
    return ordinals


def _value_at(text: str, raw: RawProposal, place: _Place) -> tuple[int, int, int]:
    at = lower(text).find(lower(raw.value), place.span.start) if raw.value else -1
    return (at if at >= 0 else len(text), place.span.start, place.span.end)


def _clause_at(clauses: Sequence[Clause], span: Span) -> int:
    touched = [clause.ordinal for clause in clauses if clause.span.overlaps(span)]
    return touched[0] if touched else 0


def _place(message: _Message, raw: RawProposal) -> _Place:
    for given in (raw.span, raw.text):
        found = _verbatim(message, given, raw) if given else None
        if found is not None:
            return _Place(found, 1.0, exact=True)
    if raw.span and (near := _nearly(message.text, raw.span)) is not None:
        return near
    return _best(message, raw)


def _verbatim(message: _Message, given: str, raw: RawProposal) -> Span | None:
    """Where the words stand, whatever their case, spacing and marks."""
    starts = _occurrences(message.text, given)
    if starts:
        spans = [Span(start=at, end=at + len(given)) for at in starts]
        wanted = _content(raw.said)
        return max(spans, key=lambda span: _company(message, span, wanted))
    return _word_for_word(message.text, given)


def _word_for_word(text: str, given: str) -> Span | None:
    words = [t.low for t in tokenise(given) if t.is_word]
    there = [t for t in tokenise(text) if t.is_word]
    for at in range(len(there) - len(words) + 1 if words else 0):
        if all(there[at + i].low == word for i, word in enumerate(words)):
            return Span(start=there[at].start, end=there[at + len(words) - 1].end)
    return None


def _occurrences(text: str, given: str) -> list[int]:
    starts: list[int] = []
    at = text.find(given)
    while at >= 0 and len(starts) < 20:
        starts.append(at)
        at = text.find(given, at + 1)
    return starts


def _company(message: _Message, span: Span, wanted: frozenset[str]) -> int:
    """How much of a proposal the statement around one occurrence of its words says."""
    said = zip(message.clauses, message.contents, strict=True)
    return sum(len(words & wanted) for clause, words in said if clause.span.overlaps(span))


def _nearly(text: str, given: str) -> _Place | None:
    from rapidfuzz.fuzz import partial_ratio_alignment

    found = partial_ratio_alignment(lower(given), lower(text), score_cutoff=_NEAR)
    if found is None or found.dest_end <= found.dest_start:
        return None
    touched = [t for t in tokenise(text) if t.start < found.dest_end and t.end > found.dest_start]
    if not touched:
        return None
    span = Span(start=touched[0].start, end=touched[-1].end)
    return _Place(span, found.score / 100, exact=False)


def _best(message: _Message, raw: RawProposal) -> _Place:
    """The statement, or run of statements, that carries most of the proposal in least words."""
    wanted = _content(raw.said) - _FRAMING or _content(raw.said)
    value = _content(raw.value or "") - _FRAMING
    places = [
        _Place(span, _carried(there, wanted, value), exact=False) for span, there in message.runs
    ]
    best = max(places, key=lambda p: (round(p.carried, 3), p.span.start - p.span.end))
    if best.carried > 0:
        return best
    whole = Span(start=message.clauses[0].span.start, end=message.clauses[-1].span.end)
    return _Place(whole, 0.0, exact=False)


def _runs(clauses: Sequence[Clause]) -> list[Span]:
    singles = [clause.span for clause in clauses]
    pairs = [Span(start=a.span.start, end=b.span.end) for a, b in itertools.pairwise(clauses)]
    return singles + pairs


def _carried(there: frozenset[str], wanted: frozenset[str], value: frozenset[str]) -> float:
    if not wanted:
        return 0.0
    total = len(wanted) + len(value)
    found = sum(_has(there, word) for word in wanted) + sum(_has(there, word) for word in value)
    return found / total


def _has(there: frozenset[str], word: str) -> bool:
    if word in there:
        return True
    if len(word) < 5 or word.isdigit():
        return False
    from rapidfuzz.fuzz import ratio

    return any(len(w) > 3 and ratio(w, word) >= _NEAR for w in there)


def _content(text: str) -> frozenset[str]:
    """Content words by their lemma, so that "considering a move" meets "thinking of moving"."""
    return frozenset(_lemma(fold(word)) for word in words_of(text) if word not in STOPWORDS)


def _lemma(word: str) -> str:
    readings = verb_readings(word)
    return readings[0].lemma if readings else noun_lemma(word)
