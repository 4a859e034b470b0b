"""Bare answers: a turn that says yes or no and nothing else."""

from __future__ import annotations

import re
from enum import StrEnum


class Answer(StrEnum):
    """What a bare answer says."""

    YES = "yes"
    NO = "no"


_FILLER = (
    r"(?:oh|ah|um|uh|well|haha|lol|thanks|thank you|ta|cheers|please|pls|mate|man|sir|i think)"
)
_YES = (
    r"(?:yes|yeah|yea|yep|yup|ya|aye|ja|s[ií]|oui|ok|okay|k|sure|right|correct|exactly|indeed|true|"
    r"absolutely|definitely|of course|it (?:is|was|did|has)|i (?:did|have|am)|we (?:did|have|are)|"
    r"that'?s (?:right|it|correct|true)|done|cool|great|fine|perfect|sounds good|go on|will do)"
)
_NO = (
    r"(?:no|nope|nah|naw|nein|non|not really|i (?:didn'?t|haven'?t|did not)|"
    r"we (?:didn'?t|haven'?t)|it (?:didn'?t|hasn'?t|isn'?t)|never)"
)
_GAP = r"[\s,.!…:;)(\-–—👍🙂😊😄]*"


def _bare(words: str) -> re.Pattern[str]:
    return re.compile(
        rf"{_GAP}(?:{_FILLER}{_GAP})*{words}(?:{_GAP}(?:{words}|{_FILLER}))*{_GAP}", re.IGNORECASE
    )


_PATTERNS = {Answer.YES: _bare(_YES), Answer.NO: _bare(_NO)}


def answer_of(text: str) -> Answer | None:
    """YES or NO when the turn is nothing but that; None for anything that says more.

    Thanks alone is no answer: it comes back as YES only together with a word of assent.
    """
    for answer, pattern in _PATTERNS.items():
        if pattern.fullmatch(text):
            return answer
    return None
