"""Words about the user turned from the first person to the third, without times and hedges."""

from __future__ import annotations

import re
from datetime import date

from memgate_core.language.calendar import Look, named_days
from memgate_core.language.tokens import lower, tokenise

_THIRD = {
    "i": "they", "me": "them", "my": "their", "mine": "theirs", "myself": "themselves",
    "we": "they", "us": "them", "our": "their", "ours": "theirs", "ourselves": "themselves",
    "am": "are", "'m": "'re", "im": "they're", "ive": "they've",
}  # fmt: skip
_ANY_DAY = date(2024, 1, 1)
"""Spans of named days do not depend on the day they are counted from."""
_CONDITION = re.compile(
    r"(?:[,;]|(?<!\s))\s+(?:if|unless|once|when|whenever|until|till|as soon as|as long as|provided"
    r"|assuming|in case|depending on|because|cause|cos|since|so that|but|though|although|while"
    r"|before|after i|after we|instead of|rather than|the day|whether)\b.*$",
    re.IGNORECASE | re.DOTALL,
)
_VAGUE_TIME = re.compile(
    r"(?<![,\s])[,\s]+(?:some ?day|one day|soon|eventually|sometime|at some point"
    r"|in the (?:near )?future|later(?: on)?|for a while|this time|these days|then"
    r"|\d{1,2}\s?(?:am|pm)"
    r"|(?:this|next|in the|over the|by the|after the|after this|before the|for the|during the"
    r"|in|over|by) (?:spring|summer|autumn|fall|winter|holidays?|semester|sem|term|season|new year"
    r"|end of \w+)|at (?:\d{1,2}(?::\d\d)?\s?(?:am|pm)?|noon|midday|midnight))\s*$",
    re.IGNORECASE,
)
_TAG = re.compile(
    r"(?<![,\s])[,\s]+(?:i (?:think|guess|suppose|hope|reckon|believe|swear|dunno)|maybe|perhaps"
    r"|probably|possibly|hopefully|idk|tbh|lol|haha\w*|tho|though|right|eh|innit|not sure(?: yet)?"
    r"|fingers crossed|touch wood|or something|or so|if possible|anyway|x+|please|pls|now|instead"
    r"|too|as well|again|yet|after all)$",
    re.IGNORECASE,
)
_EDGES = ' \t\n,;:.!?…–—-"“”'
_PREPOSITION_TAIL = re.compile(
    r"(?<![,\s])[,\s]+(?:on|in|by|from|at|for|of|as of|since|starting|until|around)$", re.I
)


def in_third_person(text: str) -> str:
    """ "my dad's old bike" -> "their dad's old bike"."""
    out, at = [], 0
    for token in tokenise(text):
        out.append(text[at : token.start])
        out.append(_THIRD.get(lower(token.text), token.text))
        at = token.end
    return "".join([*out, text[at:]])


def without_afterthoughts(text: str) -> str:
    """The words up to their condition, contrast or reason, without tags like "I think"."""
    bare = text.strip(_EDGES)
    for _ in range(4):
        cut = _TAG.sub("", _CONDITION.sub("", bare)).strip(_EDGES)
        if cut == bare:
            break
        bare = cut
    return bare


def without_times(text: str) -> str:
    """The words without the days and times at their end ("to Leeds in June" -> "to Leeds")."""
    bare = text.strip(_EDGES)
    for _ in range(4):
        cut = _VAGUE_TIME.sub("", _without_last_day(bare)).strip(_EDGES)
        if cut == bare:
            break
        bare = cut
    return bare


def _without_last_day(text: str) -> str:
    days = named_days(text, _ANY_DAY, Look.AHEAD)
    if not days or days[-1].end < len(text.rstrip(_EDGES)):
        return text
    before = text[: days[-1].start].rstrip(_EDGES)
    if before.lower().endswith((" to", "moved to")) or before.lower() == "to":
        return text  # "moved to Friday": the day is what is said
    return _PREPOSITION_TAIL.sub("", before)
