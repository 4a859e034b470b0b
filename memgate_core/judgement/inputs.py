"""How each question to the encoders is laid out as tokens: the same in training and at run time.

Token type 1 marks what the question is about (the statement, the value, the turn); type 0 is its
context. Speakers and parts are told apart by vocabulary entries that pre-training left unused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from memgate_core.model import FieldSpec, HistoryTurn, Role, Span, Statement

if TYPE_CHECKING:
    from tokenizers import Tokenizer

CLS, SEP = 101, 102
SAME_SPEAKER, OTHER_SPEAKER, FIELD, KNOWN, PLAN, WORDS, VALUE, NONE = range(1, 9)
SPEAKERS = (9, 10, 11)
"""Marks before the words of the user, of the assistant, and of anything else."""
_ROLE_MARKS = dict(
    zip((Role.USER, Role.ASSISTANT, Role.TOOL, Role.SYSTEM), (*SPEAKERS, SPEAKERS[-1]), strict=True)
)

STATEMENT_TOKENS = 64
TURN_TOKENS = 80
_PART_TOKENS = 24
_LONG_PART_TOKENS = 32
_CHARACTERS_A_TOKEN = 16
"""More than nearly any token has: what is cut off for so many tokens mostly yields enough."""
_SECOND_CUT = 8
"""So many times as much is tried where it did not; no more, whatever the text is made of."""
_LONGEST_WORD = 512
"""Characters within which a place to cut is looked for."""
_KEPT_TEXT = 2048
"""Characters; longer texts are not kept tokenised."""
_CUT = re.compile(r"[\s!-/:-@\[-`{-~\u3001\u3002\uff01\uff0c\uff1f\u3400-\u4dbf\u4e00-\u9fff]")
"""Characters at which the tokeniser begins anew whatever stands beside them."""


@dataclass(frozen=True)
class Piece:
    """Token ids of a text, with the character range each one covers."""

    ids: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]

    @property
    def end(self) -> int:
        """Where its last token ends."""
        return self.offsets[-1][1] if self.offsets else 0

    def head(self, count: int) -> Piece:
        """The first `count` tokens."""
        return Piece(self.ids[:count], self.offsets[:count])

    def tail(self, count: int) -> Piece:
        """The last `count` tokens."""
        return Piece(self.ids[-count:], self.offsets[-count:]) if count else Piece((), ())

    def moved(self, by: int) -> Piece:
        """The same tokens, so many characters further on."""
        if not by:
            return self
        return Piece(self.ids, tuple((start + by, end + by) for start, end in self.offsets))


@dataclass(frozen=True)
class Encoded:
    """One row for an encoder. `places` gives, for tokens of the turn or its history, the text's
    number (-1 the turn, 0.. the history) and the character range; None elsewhere."""

    ids: tuple[int, ...]
    types: tuple[int, ...]
    places: tuple[tuple[int, int, int] | None, ...] = ()


class _Row:
    """Collects the parts of one row."""

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.types: list[int] = []
        self.places: list[tuple[int, int, int] | None] = []

    def mark(self, token: int) -> None:
        """One token that is no word."""
        self.ids.append(token)
        self.types.append(0)
        self.places.append(None)

    def part(self, piece: Piece, kind: int = 0, text: int | None = None) -> None:
        """The tokens of a text, all of one type."""
        self.ids += piece.ids
        self.types += [kind] * len(piece.ids)
        self.places += [None if text is None else (text, a, b) for a, b in piece.offsets]

    def done(self) -> Encoded:
        """The row as an encoder takes it."""
        return Encoded(tuple(self.ids), tuple(self.types), tuple(self.places))


@dataclass(frozen=True)
class Budget:
    """How many tokens of context a statement brings along."""

    around: int = 24
    """Of its own message, to each side."""
    before: int = 24
    """Of the message before; its end counts most."""
    earlier: int = 12
    """Of the message before that."""
    row: int = 0
    """In all: context only fills what a short statement leaves. 0 sets no such bound."""

    def within(self, statement: int) -> Budget:
        """The budget of a statement of so many tokens."""
        if not self.row:
            return self
        free = max(0, self.row - statement)
        around = min(self.around, free // 3)
        before = min(self.before, free - 2 * around)
        return Budget(around, before, min(self.earlier, free - 2 * around - before))


class Layout:
    """Lays questions out as tokens. Thread-safe; texts seen lately are kept tokenised."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        tokenizer.no_padding()
        tokenizer.no_truncation()

        def piece(text: str) -> Piece:
            coded = tokenizer.encode(text, add_special_tokens=False)
            return Piece(tuple(coded.ids), tuple(coded.offsets))

        self._piece, self._kept_piece = piece, lru_cache(maxsize=2048)(piece)

    def piece(self, text: str) -> Piece:
        """A whole text as tokens; short ones are kept for the next time."""
        return self._kept_piece(text) if len(text) <= _KEPT_TEXT else self._piece(text)

    def head(self, text: str, count: int) -> Piece:
        """The first `count` tokens of a text, at a cost that does not grow with the text."""
        piece = Piece((), ())
        for size in _cuts(len(text), count):
            opening = text if size == len(text) else text[: _last_cut(text, size)]
            piece = self.piece(opening)
            if len(piece.ids) >= count:
                break
        return piece.head(count)

    def tail(self, text: str, count: int) -> Piece:
        """The last `count` tokens of a text, likewise."""
        piece, start = Piece((), ()), len(text)
        for size in _cuts(len(text), count):
            start = 0 if size == len(text) else _first_cut(text, len(text) - size)
            piece = self.piece(text[start:])
            if len(piece.ids) >= count:
                break
        return piece.tail(count).moved(start)

    def statement(self, statement: Statement, budget: Budget) -> Encoded:
        """A statement in its message, after up to two turns (paper section 3)."""
        words = self.head(statement.text, STATEMENT_TOKENS)
        budget = budget.within(len(words.ids))
        row = _Row()
        row.mark(CLS)
        rooms = _rooms(statement.history, budget)
        for turn, room in zip(statement.history[-2:], rooms, strict=True):
            if room:
                same = turn.role == statement.role
                row.mark(SAME_SPEAKER if same else OTHER_SPEAKER)
                row.part(self.tail(turn.content, room))
        row.mark(SEP)
        left, right = _around(statement)
        row.part(self.tail(left, budget.around))
        row.part(words, 1)
        row.part(self.head(right, budget.around))
        row.mark(SEP)
        return row.done()

    def claim(
        self,
        field: FieldSpec,
        known: str | None,
        value: str | None,
        text: str,
        role: Role,
        history: Sequence[HistoryTurn],
        marked: Span | None = None,
    ) -> Encoded:
        """A field and what is known of it, against a turn; `value` when one is already proposed,
        `marked` where it stands in the turn."""
        row = _Row()
        row.mark(CLS)
        self._field(row, field)
        row.mark(KNOWN)
        self._short(row, known)
        if value is not None:
            row.mark(VALUE)
            self._short(row, value)
        row.mark(SEP)
        for number, turn in enumerate(history[-2:]):
            row.mark(_ROLE_MARKS[turn.role])
            row.part(self.tail(turn.content, _LONG_PART_TOKENS), text=number)
        row.mark(_ROLE_MARKS[role])
        piece = self._around_mark(text, marked)
        row.part(piece, text=-1)
        if marked is not None:
            first = len(row.ids) - len(piece.ids)
            for at, (start, end) in enumerate(piece.offsets, first):
                if start < marked.end and marked.start < end:
                    row.types[at] = 1
        row.mark(SEP)
        return row.done()

    def resolution(
        self,
        attribute: str | None,
        text: str,
        words: str,
        turn: str,
        asked: str | None,
        known: str | None = None,
    ) -> Encoded:
        """A held item against a turn and the assistant's line before it. `known` is what is true of
        its field now: "from Halifax to Skipton" settles one plan, "we love Halifax" the other way.
        """
        row = _Row()
        row.mark(CLS)
        row.mark(FIELD)
        self._short(row, attribute and attribute.replace("_", " "))
        if known:
            row.mark(KNOWN)
            self._short(row, known)
        row.mark(PLAN)
        self._short(row, text)
        row.mark(WORDS)
        row.part(self.head(words, _LONG_PART_TOKENS))
        row.mark(SEP)
        if asked:
            row.mark(_ROLE_MARKS[Role.ASSISTANT])
            row.part(self.tail(asked, _PART_TOKENS))
        row.mark(_ROLE_MARKS[Role.USER])
        row.part(self.head(turn, TURN_TOKENS), 1, text=-1)
        row.mark(SEP)
        return row.done()

    def slot(self, field: FieldSpec) -> Encoded:
        """A field alone, for its vector."""
        row = _Row()
        row.mark(CLS)
        self._field(row, field, kind=1)
        row.mark(SEP)
        return row.done()

    def filler(self, attribute: str | None, value: str | None, text: str) -> Encoded:
        """A candidate alone, for its vector."""
        row = _Row()
        row.mark(CLS)
        self._filler(row, attribute, value, text)
        row.mark(SEP)
        return row.done()

    def fit(self, field: FieldSpec, attribute: str | None, value: str | None, text: str) -> Encoded:
        """A field and a candidate side by side: are they the same slot?"""
        row = _Row()
        row.mark(CLS)
        self._field(row, field)
        row.mark(SEP)
        self._filler(row, attribute, value, text)
        row.mark(SEP)
        return row.done()

    def utterance(self, text: str, asked: str = "") -> Encoded:
        """A turn alone, for its vector; a short one after the end of what it answers."""
        row = _Row()
        row.mark(CLS)
        words = self.head(text, TURN_TOKENS // 2)
        row.part(self.tail(asked, TURN_TOKENS // 2 - len(words.ids)), 1)
        row.part(words, 1)
        row.mark(SEP)
        return row.done()

    def _around_mark(self, text: str, marked: Span | None) -> Piece:
        """The opening of a turn; where what is marked stands beyond it, the words around that."""
        opening = self.head(text, TURN_TOKENS)
        if marked is None or len(opening.ids) < TURN_TOKENS or opening.end >= marked.end:
            return opening
        before = self.tail(text[: marked.start], TURN_TOKENS // 2)
        rest = self.head(text[marked.start :], TURN_TOKENS - len(before.ids)).moved(marked.start)
        return Piece(before.ids + rest.ids, before.offsets + rest.offsets)

    def _field(self, row: _Row, field: FieldSpec, kind: int = 0) -> None:
        row.mark(FIELD)
        row.part(self.head(field.attribute.replace("_", " "), _PART_TOKENS), kind)
        row.part(self.head(f": {field.description}", _PART_TOKENS), kind)

    def _filler(self, row: _Row, attribute: str | None, value: str | None, text: str) -> None:
        row.mark(VALUE)
        if attribute:
            row.part(self.head(attribute.replace("_", " "), _PART_TOKENS), 1)
        if value:
            row.part(self.head(f": {value}", _PART_TOKENS), 1)
        row.part(self.head(f". {text}", _LONG_PART_TOKENS), 1)

    def _short(self, row: _Row, text: str | None) -> None:
        if text:
            row.part(self.head(text, _PART_TOKENS))
        else:
            row.mark(NONE)


def _cuts(whole: int, count: int) -> Iterator[int]:
    """Numbers of characters that may hold so many tokens, the smaller first."""
    if not count:
        return
    size = count * _CHARACTERS_A_TOKEN
    yield min(whole, size)
    if size < whole:
        yield min(whole, size * _SECOND_CUT)


def _last_cut(text: str, end: int) -> int:
    """The last place before `end` at which no word is cut in two; `end` where there is none."""
    for at in range(end, max(0, end - _LONGEST_WORD), -1):
        if _CUT.match(text[at - 1]):
            return at
    return end


def _first_cut(text: str, start: int) -> int:
    """The first place from `start` on at which no word is cut in two; `start` where there is
    none."""
    found = _CUT.search(text, start, start + _LONGEST_WORD)
    return found.start() if found else start


def _rooms(history: Sequence[HistoryTurn], budget: Budget) -> tuple[int, ...]:
    return (budget.earlier, budget.before)[-min(2, len(history)) :] if history else ()


def _around(statement: Statement) -> tuple[str, str]:
    text, message, at = statement.text, statement.message, statement.start
    if message[at : at + len(text)] != text:
        at = message.find(text)
    return ("", "") if at < 0 else (message[:at], message[at + len(text) :])
