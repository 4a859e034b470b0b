"""Emoji and emoticons, which end a statement in chat as a full stop does elsewhere."""

from __future__ import annotations

import re

PICTURE = (
    r"(?:[\U0001F000-\U0001FAFF\u2600-\u27BF\u2B00-\u2BFF\u2190-\u21FF]"
    r"[\uFE0F\u200D\u20E3\U0001F3FB-\U0001F3FF\U000E0020-\U000E007F]*)"
)
_PICTURE = re.compile(PICTURE)


def is_picture(text: str) -> bool:
    """True for an emoji or a dingbat."""
    return bool(_PICTURE.match(text))
