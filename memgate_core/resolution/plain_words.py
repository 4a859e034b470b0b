"""Confirmations that need no model: the held value, named as done in the user's own plain words.

"The switch to MUBI went through", "I've moved to Seattle". Narrow on purpose: somebody else's doing,
a denial, a question, a trial or a plan never counts, whatever verb stands in it.
"""

from __future__ import annotations

import re

from memgate_core.extraction.subject import subject_of
from memgate_core.fields.values import words_of
from memgate_core.model import USER_ENTITY, Span, StagedItem, Turn
from memgate_core.resolution.sentences import sentences

_DONE = re.compile(
    r"\b(?:switch|move|change|transfer|swap|upgrade|migration|application|enrolment|registration|contract"
    r"|booking|order|sale|purchase)\b.{0,60}\b(?:went|has gone|gone|came|has come) through\b"
    r"|\b(?:switch|move|change|transfer|swap|upgrade|migration)\b.{0,60}\bis (?:now )?(?:done|complete|official|live)\b"
    r"|\b(?:i|we)(?:['’]ve| have|['’]m| am)?(?: (?:finally|now|just|actually|already|officially|also|since))*"
    r" (?:switched|moved|changed|transferred|swapped|joined|relocated|upgraded|gone over|gone across|went over"
    r"|went with|gone with|signed with|started (?:at|with|as)|settled on|settled in(?:to)?|bought|adopted)\b",
    re.IGNORECASE,
)
_NOT_YET = re.compile(
    r"\b(?:not|never|n['’]?t|if|would|might|may|could|should|will|['’]ll|going to|gonna|hope|hoping|plan|planning"
    r"|want|wants|almost|nearly|about to|tomorrow|next|once|when|until|unless|wish|trial|tried|trying|borrow\w*"
    r"|used to|for a friend|imagine|pretend|sister|brother|friend|mate|boss|neighbou?r|colleague|son|daughter"
    r"|mum|mom|dad|cousin)\b",
    re.IGNORECASE,
)


def plainly_done(turn: Turn, item: StagedItem) -> Span | None:
    """The sentence of the turn that names the held value as done, if there is one."""
    value = words_of(item.value) if item.value else ()
    if not value:
        return None
    for span in sentences(turn.text):
        words = span.of(turn.text)
        named = set(value) <= set(words_of(words))
        if named and _DONE.search(words) and not _denied(words):
            return span
    return None


def _denied(words: str) -> bool:
    asks = words.rstrip(" \"')").endswith("?")
    return asks or bool(_NOT_YET.search(words)) or not _own(words)


def _own(words: str) -> bool:
    return subject_of(words) == USER_ENTITY or words.lstrip(" ,").lower().startswith(
        ("the ", "by the")
    )
