"""Reads registered fields straight out of a turn, where no extractor proposed a value."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from memgate_core.judgement.claims import ClaimHead, Verdict, threshold
from memgate_core.judgement.encoder import Encoders
from memgate_core.judgement.plain import is_plain_present
from memgate_core.judgement.shared import shared_encoders, shared_vectors
from memgate_core.judgement.vectors import VectorStore, nearest
from memgate_core.model import Candidate, Evidence, FieldSpec, Role, Span, Turn
from memgate_core.resolution.assent import assents

_PAIRED = 4
"""Fields that get a pair check in one turn. With more registered the encoder reads nothing but a
bare "yes": which of a hundred fields a plan belongs to it guesses too often ("renew the lease"
is no landlord), and a plan without a field is held as well."""
_LONGEST_FACT = 8
"""Words; what reads as a longer value is a description, and not safe to commit."""
_PLAINLY = 0.6
"""Where the message is nothing but "I live in Leeds", a fact or a correction from here on."""
_EDGES = " \t\n.,;:!?\"'“”‘’()[]*_"
_JOINS = "'’-"
_FRACTION = re.compile(
    r"\s*(?:[½¼¾]|(?:and|&) (?:a|an|one|three) (?:half|thirds?|quarters?)\b)", re.IGNORECASE
)
_BOUNDARY = re.compile(r"(?<=[.!?…])\s+|\n+")


class LocalFieldReader:
    """Proposes (field, value) candidates with the words they rest on. It never decides.

    Implements `FieldReader`. Thread-safe; field vectors are computed once.
    """

    name = "local-reader/1"

    def __init__(self, encoders: Encoders | None = None) -> None:
        self._encoders = encoders or shared_encoders()
        self._head = ClaimHead(self._encoders)
        self._vectors = VectorStore(encoders) if encoders else shared_vectors()

    def read(
        self, turn: Turn, fields: Sequence[FieldSpec], known: Mapping[str, str | None]
    ) -> list[Candidate]:
        """Candidates in the order of `fields`; `known` maps attribute to current value.

        Raises:
            ConfigurationError: the weights are not installed completely.
        """
        if turn.role not in (Role.USER, Role.ASSISTANT) or not turn.text.strip():
            return []
        if len(fields) > _PAIRED and not (turn.role is Role.USER and assents(turn.text)):
            return []
        near = self._near(turn, fields)
        layout = self._encoders.layout
        rows = [
            layout.claim(f, known.get(f.attribute), None, turn.text, turn.role, turn.history)
            for f in near
        ]
        verdicts = self._head.judge(rows, read=True)
        found = [
            _candidate(turn, field, verdict, self.name)
            for field, verdict in zip(near, verdicts, strict=True)
            if self._is_sure(turn, verdict)
        ]
        return [
            candidate.model_copy(update={"ordinal": at})
            for at, candidate in enumerate(c for c in found if c is not None)
        ]

    def _is_sure(self, turn: Turn, verdict: Verdict) -> bool:
        """Plans wait, so they are read where anything stands; a fact or a correction only where
        nearly no turn of the test part that says no such thing reaches its probability; and an
        assistant's guess sooner, since only the user can make it a fact."""
        if turn.role is not Role.USER:
            return verdict.stands >= threshold(self._encoders, "read_guess")
        if verdict.name == "hold" or assents(turn.text):
            return verdict.stands >= threshold(self._encoders, "read")
        if verdict.name not in ("commit", "correct"):
            return False
        if verdict.probability >= threshold(self._encoders, f"read_{verdict.name}"):
            return True
        return verdict.probability >= _PLAINLY and _stands_plainly(turn, verdict)

    def _near(self, turn: Turn, fields: Sequence[FieldSpec]) -> list[FieldSpec]:
        if len(fields) <= _PAIRED:
            return list(fields)
        layout = self._encoders.layout
        slots = self._vectors.slots(fields)
        asked = turn.history[-1].content if len(turn.text) < 40 and turn.history else ""
        turned = self._vectors.of([layout.utterance(turn.text, asked)])[0]
        best = nearest(slots @ turned, _PAIRED, threshold(self._encoders, "near"))
        return [fields[at] for at in sorted(best)]


def _stands_plainly(turn: Turn, verdict: Verdict) -> bool:
    number, start, end = verdict.place or (0, 0, 0)
    return number == -1 and is_plain_present(turn, start, end)


def _candidate(turn: Turn, field: FieldSpec, verdict: Verdict, reader: str) -> Candidate | None:
    if verdict.place is None:
        return None
    number, start, end = verdict.place
    assent = assents(turn.text)
    if number >= 0 and not assent:
        return None  # only a short "yes" makes the words of the turn before the user's own
    text = turn.text if number < 0 else turn.history[-2:][number].content
    value = whole_words(text, start, end).strip(_EDGES)
    if not value or (verdict.name != "hold" and not _is_one_thing(value)):
        return None
    words = sentence_around(turn.text, start, end) if number < 0 else _whole(turn.text)
    return Candidate(
        attribute=field.attribute,
        value=value,
        text=words.of(turn.text),
        words=words.of(turn.text),
        evidence=Evidence.of(turn, words),
        ordinal=0,
        extractor=reader,
        confidence=verdict.stands,
    )


def _is_one_thing(value: str) -> bool:
    """False for what runs on into another sentence, or is too long to be a value."""
    return len(value.split()) <= _LONGEST_FACT and not _BOUNDARY.search(value)


def whole_words(text: str, start: int, end: int) -> str:
    """The range, widened to whole words: a tokeniser cuts at apostrophes, people do not; and a
    number to its fraction ("43 and a half")."""
    while start > 0 and _inside_word(text, start):
        start -= 1
    while end < len(text) and _inside_word(text, end):
        end += 1
    rest = _FRACTION.match(text, end) if text[start:end][-1:].isdigit() else None
    return text[start : rest.end() if rest else end]


def _inside_word(text: str, at: int) -> bool:
    """True when the characters on both sides of `at` belong to one word."""
    around = text[at - 1 : at + 1]
    joined = around[0] in _JOINS and text[at - 2 : at - 1].isalnum() and around[1].isalnum()
    joins = around[1:] in _JOINS and around[0].isalnum() and text[at + 1 : at + 2].isalnum()
    return around.isalnum() or joined or bool(around[1:] and joins)


def _whole(text: str) -> Span:
    """All of a short answer: its value was said in the turn before ("correct")."""
    start = len(text) - len(text.lstrip())
    return Span(start=start, end=max(start, len(text.rstrip())))


def sentence_around(text: str, start: int, end: int) -> Span:
    """The sentence (or run of sentences) that holds the range, without outer white space."""
    first, last = 0, len(text)
    for boundary in _BOUNDARY.finditer(text):
        if boundary.end() <= start:
            first = boundary.end()
        elif boundary.start() >= end:
            last = boundary.start()
            break
    inner = text[first:last]
    first += len(inner) - len(inner.lstrip())
    return Span(start=first, end=max(first, first + len(inner.strip())))
