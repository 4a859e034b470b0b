"""When a plan may be asked about, and when a reported event happened, from the words alone.

Counted from the turn's own clock in UTC, never from the machine's. A named day is 00:00 UTC of that
day; a named week, month or year is its first day. An event is never dated after the turn that
reports it; a review day never lies before it.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time

from memgate_core.language.calendar import Look, NamedDay, named_days
from memgate_core.model import Candidate, Instant, Turn

_POINTS_BACK = re.compile(
    r"(?:and |so )?\b(?:that (?:day|monday|tuesday|wednesday|thursday|friday|saturday"
    r"|sunday|week|weekend|night)"
    r"|that's (?:the day|when)|by then|on the day|then|that date)\b",
    re.IGNORECASE,
)
_REACH = 160
"""Characters before a statement in which "that day" may find the day it means."""
_NOT_THE_EVENT = re.compile(
    r"(?:born|birthday|due|until|till|til|before|by|not|for|every|each|usual(?:ly)?|appointment(?:s)?"
    r"|remember(?:s|ed)?|made in|from|model)\s*$",
    re.IGNORECASE,
)
"""Words before a day that make it something else than the event's own day."""
_A_YEAR_BACK = 300
"""A day this long ago that was named without its year is rather the coming one ("on 20 May")."""
_YEAR = re.compile(r"(?:19|20)\d\d|ago|last|back")
_AS_OF = re.compile(r"\b(?:as of|since|from|starting|started)\s*$", re.IGNORECASE)


def review_at(turn: Turn, candidate: Candidate) -> Instant | None:
    """The first day not before the turn that the candidate's words name; None where they name none.

    "that Monday", "that's the day" look back into the message for the day they mean.
    """
    start, end = candidate.evidence.start, candidate.evidence.end
    today, words = turn.occurred_at.date(), turn.text[start:end]
    places = [words, candidate.text]
    if _POINTS_BACK.match(words) or not named_days(words, today, Look.AHEAD):
        before = turn.text[max(0, start - _REACH) : start]
        places.insert(0, before if _POINTS_BACK.search(words) else "")
    found = (_first_ahead(place, today) for place in places if place)
    day = next((day for day in found if day is not None), None)
    return _midnight(day) if day else None


def event_time(turn: Turn, words: str) -> Instant:
    """When what the words report happened; the turn's own time when they name no past day."""
    today = turn.occurred_at.date()
    for named in named_days(words, today, Look.BACK):
        if named.day <= today and not _means_something_else(words, named, today):
            return min(_midnight(named.day), turn.occurred_at)
    return turn.occurred_at


def _first_ahead(words: str, today: date) -> date | None:
    days = (named.day for named in named_days(words, today, Look.AHEAD))
    return next((day for day in days if day >= today), None)


def _means_something_else(words: str, named: NamedDay, today: date) -> bool:
    before = words[max(0, named.start - 24) : named.start]
    own = words[named.start : named.end].lower()
    if (today - named.day).days > _A_YEAR_BACK and not _YEAR.search(own):
        return True
    if own.startswith(("since", "from", "as of")) or _AS_OF.search(before):
        return False
    return bool(_NOT_THE_EVENT.search(before)) or own.startswith(
        ("until", "till", "by ", "before", "for ")
    )


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
