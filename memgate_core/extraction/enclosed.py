"""Ranges that a statement boundary may not cut: quotations, brackets, addresses."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple


class Enclosed(NamedTuple):
    """A range [start, end) that stays whole; `quoted` for quotation marks."""

    start: int
    end: int
    quoted: bool


_DOUBLE = re.compile(r"[\"“”„«]([^\"“”„«»\n]{1,400})[\"“”»]")
_SINGLE = re.compile(
    r"(?:(?<=[\s(\[:—–-])|^)['‘](?!\d\ds?\b|(?:em|til|cause|cos|bout|n|tis|twas|round|d|s|ll)\b)"
    r"(?=[^\W_])([^\n‘]{1,400}?)(?<=[^\s(])['’](?=[\s.,;:!?)\]…—-]|$)",
    re.MULTILINE | re.IGNORECASE,
)
_BRACKET = re.compile(r"\([^()\n]{1,400}\)|\[[^\[\]\n]{1,400}\]")
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+|\b[\w.+-]{1,64}@[\w-]+\.[\w.-]+")


def enclosed_in(text: str, start: int, end: int) -> list[Enclosed]:
    """The ranges inside text[start:end], outermost only, in order."""
    found = [
        Enclosed(match.start(), match.end(), pattern in (_DOUBLE, _SINGLE))
        for pattern in (_DOUBLE, _SINGLE, _BRACKET, _ADDRESS)
        for match in pattern.finditer(text, start, end)
    ]
    found.sort(key=lambda e: (e.start, -e.end))
    outer: list[Enclosed] = []
    for item in found:
        if not outer or item.start >= outer[-1].end:
            outer.append(item)
    return outer


class Walls:
    """Answers whether a place lies inside an enclosed range."""

    def __init__(self, enclosed: list[Enclosed]) -> None:
        self._enclosed = enclosed
        self._starts = [item.start for item in enclosed]

    def around(self, at: int) -> Enclosed | None:
        """The range that holds the character at `at` strictly before its end, if any."""
        index = bisect_right(self._starts, at) - 1
        if index < 0 or at >= self._enclosed[index].end:
            return None
        return self._enclosed[index]
