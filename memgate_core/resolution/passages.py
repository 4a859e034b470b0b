"""A long message in passages that an encoder sees whole: its end may settle a plan."""

from __future__ import annotations

from memgate_core.judgement.inputs import TURN_TOKENS, Layout
from memgate_core.model import Span
from memgate_core.resolution.sentences import sentences

_CHARACTERS = 260
"""Of a passage behind the opening: fewer than the encoder's tokens hold in any plain prose."""
_MOST = 12
"""Passages of one message: the first and the last of a longer one."""


def passages(text: str, layout: Layout) -> list[Span]:
    """The opening as far as an encoder sees it, then runs of sentences behind it."""
    opening = layout.head(text, TURN_TOKENS)
    if len(opening.ids) < TURN_TOKENS or not text[opening.end :].strip():
        return [Span(start=0, end=len(text))]
    found = [Span(start=0, end=opening.end)]
    for sentence in sentences(text):
        if sentence.end <= opening.end:
            continue
        last = found[-1]
        if len(found) > 1 and sentence.end - last.start <= _CHARACTERS:
            found[-1] = Span(start=last.start, end=sentence.end)
        else:
            found.append(sentence)
    half = _MOST // 2
    return found if len(found) <= _MOST else found[:half] + found[-half:]
