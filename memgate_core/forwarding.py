"""Step 9, first half: which words of a turn may go on to the framework's own call."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import takewhile

from memgate_core.model import Span

_EDGE = re.compile(r"^[\s,;:.!?…\-–—]+|(?<![\s,;:\-–—])[\s,;:\-–—]+$")
_LEADING_LINK = re.compile(
    r"^(?:and|but|so|because|cause|cos|which|then|or|though|although|since|as|plus)\b[\s,]+",
    re.IGNORECASE,
)
_THERE = re.compile(r"\b(lives?|lived|works?|worked|stays?|stayed|is|was|are|were) there\b", re.I)
_PLACE = re.compile(r"\b(?:to|in|at|near|into) ((?:[A-Z][\w'’.-]+)(?: [A-Z][\w'’.-]+){0,2})")


def merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    """The same characters, as ordered, disjoint spans."""
    out: list[Span] = []
    for span in sorted(spans, key=lambda s: (s.start, s.end)):
        if out and span.start <= out[-1].end:
            out[-1] = Span(start=out[-1].start, end=max(out[-1].end, span.end))
        else:
            out.append(span)
    return tuple(out)


def widened(spans: Iterable[Span], statements: Sequence[Span]) -> tuple[Span, ...]:
    """Every span grown to the whole statements it touches: half a sentence still tells a plan."""
    grown: list[Span] = []
    ahead = deque(sorted(statements, key=lambda s: s.start))
    for span in sorted(spans, key=lambda s: s.start):
        while ahead and ahead[0].end <= span.start:
            ahead.popleft()  # no later span begins before this one
        grown += _touched(span, ahead) or [span]
    return merged(grown)


def _touched(span: Span, ahead: Iterable[Span]) -> list[Span]:
    """The statements that share a character with the span, of those in order from it on."""
    near = takewhile(lambda s: s.start < span.end, ahead)
    return [s for s in near if s.overlaps(span)]


def forwardable(text: str, withheld: Sequence[Span]) -> str | None:
    """`text` without the withheld spans, tidied at the cuts; None when no words are left.

    A remaining "... lives there" gets its place from the withheld words of the same message, where
    they name one: that says nothing of the plan itself.
    """
    if not withheld:
        return text
    gaps = merged(withheld)
    kept = [_tidy(text[a:b]) for a, b in _complement(gaps, len(text))]
    kept = [piece for piece in kept if any(ch.isalnum() for ch in piece)]
    if not kept:
        return None
    return _resolve_there(" ".join(kept), [gap.of(text) for gap in gaps])


def _complement(gaps: Sequence[Span], length: int) -> list[tuple[int, int]]:
    edges = [0, *(edge for gap in gaps for edge in (gap.start, gap.end)), length]
    return [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if a < b]


def _tidy(piece: str) -> str:
    trimmed = _EDGE.sub("", piece)
    return _EDGE.sub("", _LEADING_LINK.sub("", trimmed))


def _resolve_there(kept: str, held: Sequence[str]) -> str:
    places = [m.group(1).rstrip(".") for words in held for m in _PLACE.finditer(words)]
    if len(set(places)) != 1 or not _THERE.search(kept):
        return kept
    return _THERE.sub(lambda m: f"{m.group(1)} in {places[0]}", kept, count=1)
