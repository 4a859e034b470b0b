"""Foreign words inside a user's own message: pasted text, and orders addressed to an assistant.

A user who pastes a file, a mail or a page did not say what stands in it (article: taint is
carried along; a summary does not launder it).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memgate_core.model import Span

_FENCED = re.compile(r"```.*?(?:```|\Z)", re.S)
_QUOTED_LINES = re.compile(r"(?:^[ \t]*>.*(?:\n|\Z))+", re.M)
_MAIL = re.compile(
    r"(?:^(?:From|To|Subject|Sent|Date|Cc):[^\n]*\n){2,}.*\Z|^-{2,} ?(?:Forwarded|Original) message.*\Z",
    re.S | re.M | re.I,
)
_ORDER = re.compile(
    r"\b(?:note|notice|message|instructions?|reminder|attention)\b[^.\n]{0,20}\b(?:to|for) (?:the |any |all )?"
    r"(?:ai|assistants?|bots?|models?|llms?|agents?)\b.*|"
    r"\b(?:ai|digital) assistants?\b[^.\n]{0,40}\b(?:must|should|shall|are to|please)\b.*|"
    r"\b(?:ignore|disregard|forget) (?:all |any |the |your )?(?:previous|prior|above|earlier) (?:instructions?"
    r"|prompts?|messages?)\b.*",
    re.I,
)


def foreign_spans(text: str) -> Iterator[Span]:
    """Spans of `text` that are not the speaker's own words."""
    for pattern in (_FENCED, _QUOTED_LINES, _MAIL, _ORDER):
        for match in pattern.finditer(text):
            if match.end() > match.start():
                yield Span(start=match.start(), end=match.end())
