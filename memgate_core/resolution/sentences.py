"""The sentences of a turn: what a settlement can rest on."""

from __future__ import annotations

import re

from memgate_core.model import Span

_SENTENCE = re.compile(r"[^.!?…\n]+[.!?…]*")


def sentences(text: str) -> list[Span]:
    """Spans of the sentences that have words, without outer white space."""
    found = []
    for match in _SENTENCE.finditer(text):
        words = match.group(0)
        start = match.start() + len(words) - len(words.lstrip())
        if any(ch.isalnum() for ch in words):
            found.append(Span(start=start, end=match.start() + len(words.rstrip())))
    return found
