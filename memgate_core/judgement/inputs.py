"""How each question to the encoders is laid out as tokens: the same in training and at run time.

Token type 1 marks what the question is about (the statement, the value, the turn); type 0 is its
context. Speakers and parts are told apart by vocabulary entries that pre-training left unused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from memgate_core.model import FieldSpec, HistoryTurn, Role, Span, Statement

if TYPE_CHECKING:
    from tokenizers import Tokenizer

CLS, SEP = 101, 102
SAME_SPEAKER, OTHER_SPEAKER, FIELD, KNOWN, PLAN, WORDS, VALUE, NONE = range(1, 9)
_ROLE_MARKS = {Role.USER: 9, Role.ASSISTANT: 10, Role.TOOL: 11, Role.SYSTEM: 11}

STATEMENT_TOKENS = 64
TURN_TOKENS = 80
_PART_TOKENS = 24
_LONG_PART_TOKENS = 32
_CHARACTERS_A_TOKEN = 16
"""More than nearly any token has: what is cut off for so many tokens mostly yields enough."""


@dataclass(frozen=True)
class Piece:
    """Token ids of a text, with the character range each one covers."""

    ids: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]

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

        @lru_cache(maxsize=2048)
        def piece(text: str) -> Piece:
            coded = tokenizer.encode(text, add_special_tokens=False)
            return Piece(tuple(coded.ids), tuple(coded.offsets))

        self.piece = piece

    def head(self, text: str, count: int) -> Piece:
        """The first `count` tokens of a text, at a cost that does not grow with the text."""
        for end in _cuts(len(text), count):
            opening = text if end == len(text) else _without_last_word(text[:end])
            piece = self.piece(opening)
            if len(piece.ids) >= count:
                break
        return piece.head(count)

    def tail(self, text: str, count: int) -> Piece:
        """The last `count` tokens of a text, likewise."""
        for size in _cuts(len(text), count):
            closing = text if size == len(text) else _without_first_word(text[-size:])
            piece = self.piece(closing)
            if len(piece.ids) >= count:
                break
        return piece.tail(count).moved(len(text) - len(closing))

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
        piece = self.head(text, TURN_TOKENS)
        row.part(piece, text=-1)
        if marked is not None:
            first = len(row.ids) - len(piece.ids)
            for at, (start, end) in enumerate(piece.offsets, first):
                if start < marked.end and marked.start < end:
                    row.types[at] = 1
        row.mark(SEP)
        return row.done()

    def resolution(
        self, attribute: str | None, text: str, words: str, turn: str, asked: str | None
    ) -> Encoded:
        """A held item against a turn and the assistant's line before it."""
        row = _Row()
        row.mark(CLS)
        row.mark(FIELD)
        self._short(row, attribute and attribute.replace("_", " "))
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

    def utterance(self, text: str) -> Encoded:
        """A turn alone, for its vector."""
        row = _Row()
        row.mark(CLS)
        row.part(self.head(text, TURN_TOKENS // 2), 1)
        row.mark(SEP)
        return row.done()

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
    """Growing numbers of characters, up to the whole text, that may hold so many tokens."""
    size = max(1, count) * _CHARACTERS_A_TOKEN
    while size < whole:
        yield size
        size *= 8
    yield whole


def _without_last_word(text: str) -> str:
    """Up to the last white space: the word behind it may be cut in two."""
    return text[: max(text.rfind(" "), text.rfind("\n")) + 1]


def _without_first_word(text: str) -> str:
    """From the first white space on."""
    places = [at for at in (text.find(" "), text.find("\n")) if at >= 0]
    return text[min(places) :] if places else ""


def _rooms(history: Sequence[HistoryTurn], budget: Budget) -> tuple[int, ...]:
    return (budget.earlier, budget.before)[-min(2, len(history)) :] if history else ()


def _around(statement: Statement) -> tuple[str, str]:
    text, message, at = statement.text, statement.message, statement.start
    if message[at : at + len(text)] != text:
        at = message.find(text)
    return ("", "") if at < 0 else (message[:at], message[at + len(text) :])
