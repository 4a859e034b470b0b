"""What a detector reports: a range and a reason code, never the words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple


class Finding(NamedTuple):
    """A range [start, end) of a text that must not be kept, and why."""

    start: int
    end: int
    reason: str
    """Reason code: `secret.*`, `payment.*` or `taint.*`."""


_EDGE = " \t\n\"'“”‘’`.,;:!?()[]{}<>"


def trimmed(text: str, start: int, end: int, reason: str) -> Finding | None:
    """The range without quotes and punctuation at its edges; None when nothing is left."""
    while start < end and text[start] in _EDGE:
        start += 1
    while end > start and text[end - 1] in _EDGE:
        end -= 1
    return Finding(start, end, reason) if end > start else None


def of_matches(text: str, matches: Iterable[re.Match[str]], reason: str) -> list[Finding]:
    """Findings for the group `secret` of each match."""
    spans = (match.span("secret") for match in matches)
    found = (trimmed(text, start, end, reason) for start, end in spans)
    return [finding for finding in found if finding is not None]


def without_overlaps(findings: Iterable[Finding]) -> list[Finding]:
    """The findings in order and disjoint; overlapping ones become one, for the longest's reason."""
    kept: list[Finding] = []
    for finding in sorted(findings, key=lambda f: (f.start, -f.end)):
        if not kept or finding.start >= kept[-1].end:
            kept.append(finding)
            continue
        last = kept[-1]
        longest = max(last, finding, key=lambda f: f.end - f.start)
        kept[-1] = Finding(last.start, max(last.end, finding.end), longest.reason)
    return kept
