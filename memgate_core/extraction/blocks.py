"""A message taken apart into blocks: prose, list items, quoted lines, code, pasted mail heads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple


class BlockKind(StrEnum):
    """What a block of a message is."""

    PROSE = "prose"
    ITEM = "item"
    QUOTE = "quote"
    CODE = "code"


class Block(NamedTuple):
    """A stretch [start, end) of a message, markers excluded where they hold no letters."""

    start: int
    end: int
    kind: BlockKind


class _Line(NamedTuple):
    start: int
    end: int
    text: str


_WRAPPED_AT = 60
"""A line this long that ends without a full stop is taken for hard-wrapped text."""
_FENCE = re.compile(r"\s*(?:```|~~~)")
_QUOTED = re.compile(r"\s*(?:>|&gt;)+\s?")
_ITEM = re.compile(r"\s*(?:[-*•‣▪–—·]|\d{1,3}[.)])\s+(?=\S)|\s*\[ \]\s+(?=\S)")
_ENDS = re.compile(r"[.!?…:;。！？][\"'”’)\]]*\s*$")


def blocks_of(text: str) -> list[Block]:
    """The blocks of a message in order, disjoint, together holding every letter of it."""
    return list(_blocks(list(_lines(text))))


def _lines(text: str) -> Iterator[_Line]:
    at = 0
    for piece in text.splitlines(keepends=True):
        yield _Line(at, at + len(piece), piece)
        at += len(piece)


def _blocks(lines: list[_Line]) -> Iterator[Block]:
    at = 0
    while at < len(lines):
        if _FENCE.match(lines[at].text):
            stop = _after_fence(lines, at)
            yield Block(lines[at].start, lines[stop - 1].end, BlockKind.CODE)
        elif not lines[at].text.strip():
            stop = at + 1
        else:
            stop = _paragraph_end(lines, at)
            yield _block(lines[at:stop])
        at = stop


def _after_fence(lines: list[_Line], at: int) -> int:
    for stop in range(at + 1, len(lines)):
        if _FENCE.match(lines[stop].text):
            return stop + 1
    return len(lines)


def _paragraph_end(lines: list[_Line], at: int) -> int:
    stop = at + 1
    while stop < len(lines) and _continues(lines[stop - 1], lines[stop]):
        stop += 1
    return stop


def _continues(before: _Line, line: _Line) -> bool:
    """Hard-wrapped text goes on in the next line; a short line of chat is a statement."""
    bare = line.text.strip()
    if not bare or _kind(line) is not BlockKind.PROSE or _FENCE.match(line.text):
        return False
    if len(before.text.rstrip()) < _WRAPPED_AT or _ENDS.search(before.text):
        return False
    return bare[0].islower() or bare[0].isdigit() or bare[0] in "([\"'“‘"


def _kind(line: _Line) -> BlockKind:
    if _QUOTED.match(line.text):
        return BlockKind.QUOTE
    return BlockKind.ITEM if _ITEM.match(line.text) else BlockKind.PROSE


def _block(lines: list[_Line]) -> Block:
    kind = _kind(lines[0])
    marker = {BlockKind.QUOTE: _QUOTED, BlockKind.ITEM: _ITEM}.get(kind)
    match = marker.match(lines[0].text) if marker else None
    start = lines[0].start + (match.end() if match else 0)
    return Block(start, lines[-1].end, kind)
