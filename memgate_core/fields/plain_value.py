"""A value as an extractor worded it, brought down to the value itself.

A cautious extractor writes "to start carpooling with Denise on Monday 8 September 2025" or "swap
Netflix for MUBI"; what may become true is "carpooling with Denise" and "MUBI".
"""

from __future__ import annotations

import re

from memgate_core.fields.values import OPEN_WORDS, same_value, words_of
from memgate_core.language.words import NUMBER_WORDS, word_set

_EXCHANGE = re.compile(
    r"\b(?:swap\w*|replac\w+|trad\w+|chang\w+|switch\w*|mov\w+|go\w*|convert\w*|leav\w+|quit\w*"
    r"|ditch\w*)\b.{0,60}?\b(?:from .{1,60}? to|(?:out )?for|with|over to|to)\s+(?P<value>\S.*)$",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^(?:(?:possibly|probably|maybe|perhaps|likely|potentially|tentatively|hopefully|eventually"
    r"|might be|may be|considering|contemplating|planning(?: on| to)?|plans? to|plan(?:ned)?:?"
    r"|intends? to|wants? to|hopes? to|hoping to|thinking (?:of|about)|interested in"
    r"|leaning towards?|looking (?:at|into)|(?:strongly )?inclined to|tempted to|keen to|ready to"
    r"|likely to|will|would|could|might|may|going to|about to|due to|set to"
    r"|undecided(?: about| on)?|prospective|future|next|to|about)\s+)+(?=\S)",
    re.IGNORECASE,
)
_START = re.compile(
    r"^(?:start(?:ing)?|begin(?:ning)?|try(?:ing)?|get(?:ting)?|buy(?:ing)?|tak(?:e|ing)|us(?:e|ing)"
    r"|join(?:ing)?|becom(?:e|ing)|(?:mov|relocat)(?:e|ing) (?:in )?to|go(?:ing)? (?:with|for|to)"
    r"|switch(?:ing)? (?:over )?to|chang(?:e|ing) to|sign(?:ing)? up (?:with|for|to)|adopt(?:ing)?"
    r"|mak(?:e|ing)|choos(?:e|ing)|pick(?:ing)?|order(?:ing)?|book(?:ing)?|upgrad(?:e|ing) to"
    r"|a (?:move|switch|change) to)\s+(?=\S)",
    re.IGNORECASE,
)
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_LINK = r"(?:(?:on|from|by|in|starting|as of|since|until|around|at the end of)\s+)?"
_TAIL = re.compile(
    rf"(?:,?\s*{_LINK}(?:(?:next|this|early|late|mid)\s+)?(?:{_WEEKDAY},?\s*)?(?:the\s+)?"
    rf"(?:\d{{1,2}}(?:st|nd|rd|th)?(?:\s+of)?\s+)?{_MONTH}(?:\s+\d{{1,2}}(?:st|nd|rd|th)?)?"
    rf"(?:,?\s+\d{{4}})?"
    rf"|,?\s*{_LINK}(?:next|this|coming)?\s*{_WEEKDAY}"
    r"|,?\s*(?:next|this)\s+(?:week|month|year|spring|summer|autumn|fall|winter|term)"
    r"|,?\s*(?:eventually|someday|one day|soon|tomorrow|later|for now|at some point|if possible)"
    r"|\s+to (?:take over|start|begin|follow|come)\b.*"
    r"|,?\s*\b(?:unsure|undecided|not sure|secret|tbc|tbd|once|if|when|after|unless|until"
    r"|depending on|provided|as soon as|because|before|but)\b.*"
    r"|,\s*(?:torn|doubtful|waiting|pending|delayed|postponed|maybe|possibly|perhaps|likely|planned"
    r"|considering|thinking|nothing|not|no|never|still|split|fifty|two|from|by|on|at|in|with)\b.*"
    r"|\s*\((?:planned|possible|tentative|undecided|not yet|pending|prospective|secret"
    r"|considering)[^)]*\))\s*$",
    re.IGNORECASE,
)
_LONGEST = 240
"""Characters; what is longer is a passage, and no rewording brings a value out of it."""
_BETWEEN = re.compile(
    r"^(?:(?:still|is|are)\s+)?(?:(?:undecided|torn|choosing|deciding|wavering|hesitating|unsure)\s+)?"
    r"(?:between\s+|about\s+|on\s+|either\s+)?",
    re.IGNORECASE,
)
_ALTERNATIVES = re.compile(r"\s+(?:or|vs\.?|versus|and)\s+", re.IGNORECASE)
_STAY = word_set(
    "stay staying renew renewing leave leaving keep keeping same current nothing neither not"
    " status quo remain remaining stick sticking existing old one"
)
_SAYS_NOTHING = word_set(
    "maybe possibly perhaps undecided unsure doubtful torn thinking still considering considered"
    " not serious decided picked yet idea plan doubt hold on in delayed delay pending postponed"
    " about it someday eventually later soon day days week weeks month months year years left"
    " change something else new two all both either open unclear tbd tbc consideration"
    " interested interest possible planned intended to go going back and forth no of"
)


def says_nothing(value: str) -> bool:
    """True for a value that is all plan wording ("undecided", "still thinking", "nine days left").

    >>> says_nothing("nine days left"), says_nothing("undecided about MUBI")
    (True, False)
    >>> says_nothing("under consideration"), says_nothing("under-9s"), says_nothing("46")
    (True, False, False)
    """
    words = re.findall(r"[^\W_]+", value.casefold().replace("under consideration", "considered"))
    if words and not any(w in _SAYS_NOTHING for w in words):
        return False
    return all(w in _SAYS_NOTHING or w in NUMBER_WORDS or w[0].isdigit() for w in words)


def leaves_open(value: str) -> bool:
    """True when the value itself says that it is not settled.

    >>> leaves_open("undecided about MUBI"), leaves_open("MUBI")
    (True, False)
    """
    return says_nothing(value) or bool(
        {"undecided", "torn", "unsure", "considering", "maybe", "possibly", "perhaps", "vs"}
        & set(re.findall(r"[^\W_]+", value.casefold()))
    )


def planned_value(value: str, known: str | None) -> str:
    """A held value, brought down to what would hold: of two that are weighed against each other,
    the one that does not hold already.

    >>> planned_value("undecided between Netflix and MUBI", "Netflix")
    'MUBI'
    >>> planned_value("the RAC or renew", "the AA")
    'the RAC'
    """
    if set(words_of(value)) & OPEN_WORDS:
        options = [o.strip() for o in _ALTERNATIVES.split(_BETWEEN.sub("", _spaced(value)))]
        new = [o for o in options if not (set(words_of(o)) & _STAY or same_value(o, known or ""))]
        if len(new) == 1 and len(options) > 1:
            return plain_value(new[0])
    return plain_value(value)


def plain_value(value: str) -> str:
    """A value without its plan wording, dates and conditions.

    >>> plain_value("to start carpooling with Denise on Monday 8 September 2025")
    'carpooling with Denise'
    >>> plain_value("swap Netflix for MUBI on 28 May 2025")
    'MUBI'

    White space is brought down to single blanks. A value that leaves it open which of several
    holds, or that is longer than 240 characters, keeps its words.
    """
    bare = _spaced(value).rstrip(".")
    if len(bare) > _LONGEST or set(words_of(bare)) & OPEN_WORDS:
        return bare
    for _ in range(3):
        bare = _TAIL.sub("", bare) or bare
    bare = _LEAD.sub("", bare)
    exchange = _EXCHANGE.search(bare)
    if exchange is not None:
        return exchange.group("value").strip()
    started = _START.sub("", bare).strip()
    return started or bare


def _spaced(value: str) -> str:
    """The words with one blank between them: patterns try every part of a run of white space."""
    return " ".join(value.split())
