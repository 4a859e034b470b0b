"""A message as statements: sentences, and clauses where they differ in what they assert.

"I prefer aisle seats, can you book the 9:40?" is two statements; "if the survey is fine, we
complete in June" is one. Spans are exact, ordered and disjoint, and hold every letter of the
message, so whatever is held can be taken out of it and nothing is said twice.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from memgate_core.extraction.blocks import Block, BlockKind, blocks_of
from memgate_core.extraction.enclosed import Walls, enclosed_in
from memgate_core.extraction.joints import joints_of
from memgate_core.extraction.sentences import sentence_ends
from memgate_core.language.tokens import tokenise
from memgate_core.model import Model, Span

_LONGEST = 1000
"""Characters of one sentence; longer runs without any stop are cut between words."""
_LOOSE = " \t\r\n\f\v\u00a0\u2028\u2029\u200b"
_BEFORE = _LOOSE + ",;:.!?…–—-*_~|"
_AFTER = _LOOSE + ",;–—-|"


class Clause(Model):
    """One statement of a message."""

    span: Span
    text: str
    """The speaker's own words at `span`."""
    ordinal: int
    """Its place among the statements of the message, from 0."""
    sentence: int
    """The sentence it belongs to, from 0: clauses of one sentence share it."""
    kind: BlockKind = BlockKind.PROSE
    quoted: bool = False
    """True when the statement lies wholly inside quotation marks."""


def split(text: str) -> list[Clause]:
    """The statements of a message, in order; none for a message without letters or digits."""
    out: list[Clause] = []
    sentence = -1
    for block, start, end, walls in _sentences(text):
        sentence += 1
        for span in _clauses(text, block, start, end, walls):
            out.append(_clause(text, span, len(out), sentence, block.kind, walls))
    return out


def _sentences(text: str) -> Iterator[tuple[Block, int, int, Walls]]:
    for block in blocks_of(text):
        walls = Walls(enclosed_in(text, block.start, block.end))
        start = block.start
        for end in sentence_ends(text, block, walls):
            for first, last in _pieces(text, start, end):
                yield block, first, last, walls
            start = end


def _clauses(text: str, block: Block, start: int, end: int, walls: Walls) -> Iterator[Span]:
    if block.kind is BlockKind.CODE:
        yield from _trimmed(text, start, end, _LOOSE, _LOOSE)
        return
    tokens = tokenise(text, start, end)
    edges = [start, *(tokens[at].start for at in joints_of(tokens, text, walls)), end]
    for left, right in itertools.pairwise(edges):
        yield from _trimmed(text, left, right, _BEFORE, _AFTER)


def _trimmed(text: str, start: int, end: int, before: str, after: str) -> Iterator[Span]:
    """The span without marks at its edges; nothing when no letter or digit is left."""
    while start < end and text[start] in before:
        start += 1
    while end > start and text[end - 1] in after:
        end -= 1
    if any(ch.isalnum() for ch in text[start:end]):
        yield Span(start=start, end=end)


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > _LONGEST:
        cut = text.rfind(" ", start + 1, start + _LONGEST) + 1
        stop = cut if cut > start + 1 else start + _LONGEST
        yield start, stop
        start = stop
    yield start, end


def _clause(
    text: str, span: Span, ordinal: int, sentence: int, kind: BlockKind, walls: Walls
) -> Clause:
    wall = walls.around(span.start)
    return Clause(
        span=span,
        text=span.of(text),
        ordinal=ordinal,
        sentence=sentence,
        kind=kind,
        quoted=wall is not None and wall.quoted and span.end <= wall.end,
    )
