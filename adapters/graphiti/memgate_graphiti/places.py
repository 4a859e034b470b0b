"""Where words stand in a text."""

from __future__ import annotations

import re

from memgate_core.model import Span


def places_of(text: str, words: str) -> list[Span]:
    """Every place of the words, in whatever case and spacing."""
    spelt = r"\s+".join(re.escape(word) for word in words.split())
    if not spelt:
        return []
    return [Span(start=m.start(), end=m.end()) for m in re.finditer(spelt, text, re.IGNORECASE)]
