"""What needs no model: the held value, named as done in the user's own plain words; and words that
say of a plan that it came to nothing.

"The switch to MUBI went through", "I've moved to Seattle". Narrow on purpose: somebody else's doing,
a denial, a question, a trial or a plan never counts, whatever verb stands in it.
"""

from __future__ import annotations

import re

from memgate_core.extraction.subject import subject_of
from memgate_core.model import USER_ENTITY, Span, StagedItem, Turn
from memgate_core.resolution.named import names
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

_OFF = re.compile(
    r"\b(?:never happened|(?:did|is|was|are|were)(?:n['’]?t| not) (?:happen\w*|to be|going ahead)"
    r"|(?:fell|fallen|falls) through|c[ao]me to nothing|came to naught|dead and buried|dead in the water"
    r"|(?:called|it['’]?s|that['’]?s|all) off(?! to)|off the table|off the cards|not happening"
    r"|no longer happening|(?:changed|change) (?:my|our) mind|(?:decided|voted) against"
    r"|thought better of|never bothered|gave (?:it|that|them|the idea) up|gave up on"
    r"|(?:scrapped|ditched|shelved|binned|dropped|forget|forgot|abandoned) (?:it|that|the (?:idea|plan|whole))"
    r"|(?:that|the|this) (?:idea|plan|dream)(?:['’]?s| is| was) (?:dead|gone|over|off|out)"
    r"|not (?:\w+ ){1,4}after all|back out|backed out|pulled out|turned (?:it|them|him|her|that) down)\b",
    re.IGNORECASE,
)
"""What people say of a plan that is over. It may be of another plan, so it ends none
unless the encoder leans that way too."""

_AHEAD = re.compile(
    r"\b(?:i|we)(?:['’]ve| have)?(?: (?:finally|just|actually|then|now|also|duly))*"
    r" (?:(?:went|gone) ahead|did it|done it|took the plunge|taken the plunge|bit the bullet"
    r"|signed up|signed the (?:lease|contract|papers|deal)|moved in|joined|subscribed"
    r"|picked (?:it|her|him|them) up|(?:took|accepted) (?:it|them up on it|the (?:offer|job|place|post)))\b",
    re.IGNORECASE,
)
"""Doing the thing that was planned, without its name."""


def plainly_done(turn: Turn, item: StagedItem) -> Span | None:
    """The sentence of the turn that names the user's own held value as done, if there is one."""
    if item.entity != USER_ENTITY:
        return None
    for span in sentences(turn.text):
        words = span.of(turn.text)
        if names(words, item.value) and _DONE.search(words) and not _denied(words):
            return span
    return None


def _denied(words: str) -> bool:
    asks = words.rstrip(" \"')").endswith("?")
    return asks or bool(_NOT_YET.search(words)) or not _own(words)


def _own(words: str) -> bool:
    return subject_of(words) == USER_ENTITY or words.lstrip(" ,").lower().startswith(
        ("the ", "by the")
    )


def went_ahead(words: str) -> bool:
    """True when a sentence of the user says that something planned was done, whatever it was.

    >>> went_ahead("We went ahead with the move"), went_ahead("we almost went ahead with it")
    (True, False)
    """
    said = [span.of(words) for span in sentences(words)]
    return any(_AHEAD.search(sentence) and not _denied(sentence) for sentence in said)


def comes_to_nothing(words: str) -> bool:
    """True when the words say that some plan is off: they confirm none.

    >>> comes_to_nothing("so the heated seats never happened"), comes_to_nothing("it happened")
    (True, False)
    """
    return bool(_OFF.search(words))


def before_its_day(turn: Turn, item: StagedItem) -> bool:
    """True when a held item names a day, and the turn is of an earlier one."""
    return item.review_at is not None and turn.occurred_at.date() < item.review_at.date()
