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


_ASSENTS = re.compile(
    rf"{_GAP}(?:{_FILLER}{_GAP})*"
    r"(?:yes|yeah|yea|yep|yup|aye|ja|s[ií]|oui|correct|exactly|indeed|quite so|spot on|affirmative"
    r"|precisely|absolutely|for my sins|they are|it is"
    r"|(?:i|we) (?:did|do|have|are|am)(?=\W*$|[,.;!]| since| indeed)"
    r"|that['’]?s (?:right|it|correct|true|me))\b",
    re.IGNORECASE,
)
_QUALIFIES = re.compile(
    r"\b(?:but|not|no|never|only|except|soon|next|if|when|until|might|may|will|would|used|was|were|wish"
    r"|hope|maybe|almost|nearly|temporar\w+|borrow\w*|joking|kidding)\b|n['’]t\b|\?",
    re.IGNORECASE,
)
_MOST_WORDS = 12


def assents(text: str) -> bool:
    """True for a short turn that opens with a yes and takes none of it back ("indeed, eleven of
    the wee dears"): it makes what the assistant asked just before the user's own words."""
    if answer_of(text) is Answer.YES:
        return True
    short = len(text.split()) <= _MOST_WORDS
    return short and bool(_ASSENTS.match(text)) and not _QUALIFIES.search(text)
