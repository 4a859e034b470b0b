"""Turns that take back what the same person said just before: "ignore my last message, wrong chat".

Deliberately narrow: only words that point at the speaker's own message count. "Ignore the last
email", "delete the last line" and "scratch the second recipe" are requests about something else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from memgate_core.book import Book
from memgate_core.ledger.protocol import Ledger
from memgate_core.model import FactStatus, Role, Source, Standing, Turn
from memgate_core.policy.lasting import is_lasting
from memgate_core.weighing import Weighed
from memgate_core.withdrawal import Withdrawal

_SAID = (
    r"(?:i|we)(?: just|'ve just| have just)? (?:said|wrote|sent|told (?:you|u)|typed|posted)"
    r"(?! (?:about|earlier|yesterday|before|last|on|in))"
)
_DROP = r"(?:ignore|disregard|forget|scratch|strike|delete|never ?mind|discard|undo)"
_LAST = r"(?:very )?(?:last|previous|earlier|other)"
_OWN = rf"(?:my {_LAST} (?:message|msg|text|dm|note|one)|(?:that|my) (?:message|msg|dm))"
_MESSAGE = rf"(?:{_OWN}|(?:(?:that|the|this|those|these) )?{_LAST} (?:messages?|msgs?|dm))"
_PLACE = r"wrong (?:chat|window|thread|tab|conversation|convo|group|channel|person)"
_ELSE = r"(?:some(?:one|body) else|another (?:chat|person|thread|group|window))"
_OOPS = (
    r"(?:^|[,;.!(–—-]\s*|\b(?:sorry|oops|argh|ugh|oh no|whoops"
    r"|(?:that|this) was(?: in| for)?(?: the)?|sent (?:that|it|this) (?:to|in) the)[\s,]+)"
)
_STOP = r"(?=\W*$|\s*[,;.!?(–—-])"
_MINE = r"my (?:phone|laptop|keyboard|account|computer|tablet)"

_NAMES_LAST = re.compile(rf"\b{_DROP} {_MESSAGE}\b|\b{_MESSAGE} (?:was|is|wasn|isn)", re.IGNORECASE)
"""Words that name the message before, wherever they stand."""

_POINTS_AT_MESSAGE = re.compile(
    "|".join(
        (
            rf"\b{_DROP} {_MESSAGE}\b",
            rf"\b{_DROP} (?:what|everything|all|anything|that|the last thing|the thing) {_SAID}\b",
            r"\bi take (?:that|it|this) back\b",
            rf"{_OOPS}{_PLACE}{_STOP}",
            rf"\b(?:that|{_MESSAGE}) (?:was|is|were) (?:meant |intended |supposed to go )?"
            rf"(?:for|to) {_ELSE}\b",
            rf"\b(?:that|{_MESSAGE}) (?:wasn['’]?t|was not|isn['’]?t) "
            rf"(?:me|mine|(?:meant )?for you){_STOP}",
            rf"\b(?:had|got hold of|was on|grabbed|nicked|stole|borrowed|took) {_MINE} "
            r"(?:and |to )?(?:\w+ )?(?:send|sent|write|wrote|type|typed|post|posted|said)\b",
            r"\bthat was me dictating\b",
            r"\bthat was (?:my|our) \w+ (?:typing|writing|messaging|on my phone)\b",
            r"\bi never (?:wrote|sent|typed) (?:that|this|it)\b",
        )
    ),
    re.IGNORECASE,
)
"""Words that can only be about a message of the speaker's own."""

_TAKES_BACK = re.compile(
    r"^\W*(?:(?:oh|ah|haha+|lol|no|nah|sorry|wait|oops|ok(?:ay)?|actually|well|only|i['’]?m|i was"
    r"|was|just|totally|obviously|clearly|hey)\W+)*"
    r"(?:jk|j/k|kidding|joking|pulling your leg|messing with you|scratch that|strike that"
    r"|forget (?:that )?i said(?: (?:that|it|anything))?|never ?mind what i said"
    r"|that was a (?:joke|lie|test)|i made that up)\b"
    r"\W*(?:(?:haha+|lol|sorry|mate|man|of course|obviously|about that)\W*)*$",
    re.IGNORECASE,
)
"""A whole statement that does nothing else."""


@dataclass(frozen=True)
class Retraction:
    """What a turn takes back."""

    marked: Mapping[int, Weighed]
    """The turn's candidates that take back or are taken back, by their place, so marked."""
    reaches_back: bool
    """True when it is the message before; False when it is what the turn itself said."""


def retraction_in(turn: Turn, weighed: Sequence[Weighed]) -> Retraction | None:
    """What the turn takes back, if it takes back anything.

    Only the user's own words do, and only statements without a value behind them: "scratch that, I
    live in York" corrects instead. "Moved to Leeds! Oops, wrong chat" takes back itself.
    """
    if turn.role is not Role.USER or turn.source is not Source.USER or turn.taint:
        return None
    values = [w.span.start for w in weighed if w.registered and w.asserted]
    last_value = max(values, default=-1)
    found = {n: _marked(w) for n, w in enumerate(weighed) if _is_retraction(w, last_value)}
    if not found:
        return None
    first = min(found)
    said_before = [w for w in weighed[:first] if is_lasting(w.candidate.words)]
    if not said_before or any(_NAMES_LAST.search(w.candidate.words) for w in found.values()):
        return Retraction(found, reaches_back=True)
    own = {n: _marked(w) for n, w in enumerate(weighed[:first])}
    return Retraction({**own, **found}, reaches_back=False)


def take_back(book: Book, ledger: Ledger) -> Withdrawal | None:
    """Takes back the user's message before this turn; None when there is none."""
    turn = book.turn
    before = ledger.previous_turn(turn.subject, before=turn.occurred_at, session=turn.session)
    if before is None or before.source is not Source.USER:
        return None
    withdrawal = Withdrawal(
        book=book,
        ledger=ledger,
        status=FactStatus.NEVER_VALID,
        reopens=True,
        reason=f"taken back by the user ({turn.message_id})",
    )
    withdrawal.message(before.message_id, before.receipt.resolved)
    return withdrawal


def _is_retraction(w: Weighed, last_value: int) -> bool:
    if w.registered or w.tainted or w.secret:
        return False
    words = w.candidate.words
    if _POINTS_AT_MESSAGE.search(words):
        return True
    bare = last_value < w.span.start
    return bare and (w.standing.standing is Standing.RETRACTION or bool(_TAKES_BACK.match(words)))


def _marked(w: Weighed) -> Weighed:
    standing = w.standing.model_copy(
        update={"standing": Standing.RETRACTION, "cues": (w.candidate.words,)}
    )
    return replace(w, standing=standing)
