"""Days that English words name, counted from a given day, looking forward or back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from enum import Enum
from typing import NamedTuple

from dateutil.easter import easter
from dateutil.relativedelta import relativedelta

from memgate_core.language.words import NUMBER_WORDS


class Look(Enum):
    """Which way an expression without a year or week is read: "on Friday"."""

    BACK = -1
    AHEAD = 1


class NamedDay(NamedTuple):
    """A day that words name. A week, month or year is its first day."""

    start: int
    """Where the expression begins in the text."""
    end: int
    day: date


_Reader = Callable[[re.Match[str], date, Look], date | None]


def _numbered(names: str) -> dict[str, int]:
    """Each "/"-separated group of names gets its number, from 1."""
    groups = enumerate(names.split("/"), start=1)
    return {name: number for number, group in groups for name in group.split()}


_MONTHS = _numbered(
    "january jan/february feb/march mar/april apr/may/june jun/july jul/august aug"
    "/september sept sep/october oct/november nov/december dec"
)
_WEEKDAYS = _numbered(
    "monday mon/tuesday tues tue/wednesday weds wed/thursday thurs thur thu/friday fri"
    "/saturday sat/sunday sun"
)
_NTH_WORDS = _numbered(
    "first/second/third/fourth/fifth/sixth/seventh/eighth/ninth/tenth/eleventh/twelfth/thirteenth"
    "/fourteenth/fifteenth/sixteenth/seventeenth/eighteenth/nineteenth/twentieth"
)
_FIXED_DAYS = {
    "christmas": (12, 25), "xmas": (12, 25), "christmas day": (12, 25), "christmas eve": (12, 24),
    "boxing day": (12, 26), "new year's eve": (12, 31), "new year": (1, 1), "new year's": (1, 1),
    "new year's day": (1, 1), "valentine's day": (2, 14), "valentine's": (2, 14),
    "halloween": (10, 31), "hogmanay": (12, 31),
}  # fmt: skip
_NEAR_DAYS = {
    "the day before yesterday": -2, "yesterday": -1, "last night": -1, "today": 0, "tonight": 0,
    "this morning": 0, "this afternoon": 0, "this arvo": 0, "this evening": 0, "tomorrow": 1,
    "tmrw": 1, "the day after tomorrow": 2, "gestern": -1, "heute": 0, "ayer": -1, "hoy": 0,
    "aujourd'hui": 0, "demain": 1, "ieri": -1, "oggi": 0, "domani": 1, "ontem": -1, "hoje": 0,
    "gisteren": -1, "vandaag": 0, "morgen": 1,
}  # fmt: skip
_COUNTS = {
    "a": 1, "an": 1, "couple": 2, "couple of": 2, "a couple": 2, "a couple of": 2, "few": 3,
    "a few": 3, "several": 4,
}  # fmt: skip


def _any(names: dict[str, int] | dict[str, tuple[int, int]]) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


_MONTH = rf"(?P<month>{_any(_MONTHS)})\b\.?"
_WEEKDAY = rf"(?P<weekday>{_any(_WEEKDAYS)})\b\.?"
_DAY = r"(?P<day>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?\b"
_YEAR = r"(?:,?\s+(?P<year>(?:19|20)\d\d)\b)?"
_COUNT = rf"(?P<count>\d{{1,3}}|{_any(_COUNTS)}|{_any(NUMBER_WORDS)})"
_UNIT = r"(?P<unit>day|night|week|fortnight|month|year|hour|minute)s?"
_SINCE = r"(?:on|by|from|since|until|till|til|before|after|as of|for|around|at|over|in|during)"


# --- how each expression is read -----------------------------------------------------------------


def _full_date(match: re.Match[str], base: date, look: Look) -> date | None:
    parts = match.groupdict()
    month = _MONTHS[parts["month"].lower().rstrip(".")]
    return _in_year(parts.get("year"), month, int(parts["day"]), base, look)


def _iso_date(match: re.Match[str], _: date, __: Look) -> date | None:
    return _safe(int(match["year"]), int(match["month"]), int(match["day"]))


def _numeric_date(match: re.Match[str], base: date, look: Look) -> date | None:
    """Day first, as most of the world writes it, unless only the other order is a date."""
    first, second = int(match["first"]), int(match["second"])
    day, month = (first, second) if second <= 12 else (second, first)
    year = match["year"]
    full = year if year is None or len(year) == 4 else f"20{year}"
    return _in_year(full, month, day, base, look) if 1 <= month <= 12 else None


def _near_day(match: re.Match[str], base: date, _: Look) -> date:
    return base + timedelta(days=_NEAR_DAYS[_plain(match["near"])])


def _weekday(match: re.Match[str], base: date, look: Look) -> date:
    number = _WEEKDAYS[match["weekday"].lower().rstrip(".")] - 1
    which = _plain(match["which"] or "")
    monday = base - timedelta(days=base.weekday())
    if which == "next":
        return monday + timedelta(days=7 + number)
    if which == "this" and look is Look.AHEAD:
        return monday + timedelta(days=number)
    if which in ("last", "this past", "past") or look is Look.BACK:
        return base - timedelta(days=(base.weekday() - number - 1) % 7 + 1)
    return base + timedelta(days=(number - base.weekday() - 1) % 7 + 1)


def _weekday_and_day(match: re.Match[str], base: date, look: Look) -> date | None:
    """ "Saturday the 19th": the nearest month in which that day falls on that weekday."""
    wanted = _WEEKDAYS[match["weekday"].lower().rstrip(".")] - 1
    for months in range(13):
        month = base.replace(day=1) + relativedelta(months=months * look.value)
        day = _safe(month.year, month.month, int(match["day"]))
        if day is not None and day.weekday() == wanted and _lies(day, base, look):
            return day
    return _day_of_month(match, base, look)


def _day_of_month(match: re.Match[str], base: date, look: Look) -> date | None:
    number = int(match["day"]) if match["day"] else _NTH_WORDS[match["nth"].lower()]
    for months in range(3):
        month = base.replace(day=1) + relativedelta(months=months * look.value)
        day = _safe(month.year, month.month, number)
        if day is not None and _lies(day, base, look):
            return day
    return None


def _ago(match: re.Match[str], base: date, _: Look) -> date | None:
    return None if match["unit"].lower() in ("hour", "minute") else base - _length(match)


def _ahead(match: re.Match[str], base: date, _: Look) -> date:
    return base + _length(match)


def _end_of(match: re.Match[str], base: date, look: Look) -> date | None:
    """The last day of a period; only plans are dated so."""
    if look is Look.BACK:
        return None
    after = 2 if _plain(match["which"] or "") == "next" else 1
    unit = match["unit"].lower()
    if unit == "week":
        return base - timedelta(days=base.weekday()) + timedelta(days=7 * after - 1)
    if unit == "month":
        return base.replace(day=1) + relativedelta(months=after, days=-1)
    return base.replace(month=1, day=1) + relativedelta(years=after, days=-1)


def _period(match: re.Match[str], base: date, look: Look) -> date | None:
    which = {"last": -1, "past": -1, "this past": -1, "this": 0, "coming": 0}.get(
        _plain(match["which"]), 1
    )
    unit = match["unit"].lower()
    if unit == "weekend":
        return _weekend(base, which, look)
    if unit == "week":
        return base - timedelta(days=base.weekday()) + timedelta(weeks=which)
    if unit == "month":
        return base.replace(day=1) + relativedelta(months=which)
    return base.replace(month=1, day=1) + relativedelta(years=which)


def _the_weekend(_: re.Match[str], base: date, look: Look) -> date:
    return _weekend(base, 0 if look is Look.AHEAD else -1, look)


def _weekend(base: date, which: int, look: Look) -> date:
    saturday = base - timedelta(days=base.weekday()) + timedelta(days=5)
    if which < 0 and base.weekday() >= 5 and look is Look.BACK:
        return saturday  # said on a Sunday, "the weekend" is this one
    return saturday + timedelta(weeks=which)


def _month(match: re.Match[str], base: date, look: Look) -> date | None:
    month = _MONTHS[match["month"].lower().rstrip(".")]
    return _in_year(match["year"], month, 1, base, look)


def _year(match: re.Match[str], _: date, __: Look) -> date | None:
    return _safe(int(match["year"]), 1, 1)


def _holiday(match: re.Match[str], base: date, look: Look) -> date | None:
    name = _plain(match["holiday"])
    if name == "easter":
        days = (easter(base.year + years) for years in (0, look.value))
        return next((day for day in days if _lies(day, base, look)), None)
    month, number = _FIXED_DAYS[name]
    return _in_year(None, month, number, base, look)


# --- helpers --------------------------------------------------------------------------------------


def _safe(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _lies(day: date, base: date, look: Look) -> bool:
    return day >= base if look is Look.AHEAD else day <= base


def _in_year(year: str | None, month: int, day: int, base: date, look: Look) -> date | None:
    if year is not None:
        return _safe(int(year), month, day)
    for years in range(5):  # 29 February may be four years off
        found = _safe(base.year + years * look.value, month, day)
        if found is not None and _lies(found, base, look):
            return found
    return None


def _length(match: re.Match[str]) -> relativedelta:
    written = _plain(match["count"])
    count = (
        int(written) if written.isdigit() else _COUNTS.get(written, NUMBER_WORDS.get(written, 1))
    )
    unit = match["unit"].lower()
    days = {"minute": 0, "hour": 0, "day": 1, "night": 1, "week": 7, "fortnight": 14}
    if unit in days:
        return relativedelta(days=count * days[unit])
    return relativedelta(months=count) if unit == "month" else relativedelta(years=count)


def _plain(text: str) -> str:
    return " ".join(text.lower().replace("’", "'").split())


def _rule(pattern: str, reader: _Reader) -> tuple[re.Pattern[str], _Reader]:
    return re.compile(pattern, re.IGNORECASE), reader


_RULES: tuple[tuple[re.Pattern[str], _Reader], ...] = (
    _rule(
        r"\b(?P<year>(?:19|20)\d\d)-(?P<month>0[1-9]|1[0-2])-(?P<day>[0-2]\d|3[01])\b", _iso_date
    ),
    _rule(rf"\b(?:{_WEEKDAY},?\s+)?(?:the\s+)?{_DAY}(?:\s+of)?\s+{_MONTH}{_YEAR}", _full_date),
    _rule(rf"\b{_MONTH}\s+(?:the\s+)?{_DAY}(?!\s*(?::|[ap]\.?m\b)){_YEAR}", _full_date),
    _rule(
        r"\b(?:on|by|from|since|until|till|before|after|due|for)\s+(?:the\s+)?(?P<first>\d{1,2})[./]"
        r"(?P<second>\d{1,2})(?:[./](?P<year>(?:20)?\d\d))?\b(?!\s*(?:%|[ap]m\b))",
        _numeric_date,
    ),
    _rule(rf"\b{_WEEKDAY}\s+(?:the\s+)?{_DAY}(?!\s*(?::|[ap]\.?m\b|of\b))", _weekday_and_day),
    _rule(rf"\b(?P<near>{_any(_NEAR_DAYS)})\b", _near_day),
    _rule(rf"\b(?:(?P<which>last|this past|past|this|next)\s+)?{_WEEKDAY}", _weekday),
    _rule(rf"\b{_COUNT}\s+{_UNIT}\s+(?:ago|back|earlier)\b", _ago),
    _rule(rf"\b(?:in|within)\s+(?:about |around )?(?:the next )?{_COUNT}\s+{_UNIT}\b", _ahead),
    _rule(rf"\b{_COUNT}\s+{_UNIT}(?:'|’)?s?(?:'|’)?\s+(?:from (?:now|today)|time\b|hence)", _ahead),
    _rule(
        r"\b(?P<which>last|this past|past|this|next|this coming|coming|the coming|the following)\s+"
        r"(?P<unit>week|weekend|month|year)\b",
        _period,
    ),
    _rule(r"\bend of (?:the |this |(?P<which>next) )?(?P<unit>week|month|year)\b", _end_of),
    _rule(r"\b(?:at|over|for|after|before|by)\s+the\s+weekend\b", _the_weekend),
    _rule(
        rf"\b{_SINCE}\s+(?:the\s+)?(?P<holiday>{_any(_FIXED_DAYS)}|easter)(?:\s+day)?\b", _holiday
    ),
    _rule(
        rf"\b(?:{_SINCE}|early|late|mid|next|last|this|come|through"
        rf"|(?:start|beginning|end) of)[\s-]+"
        rf"(?:early |late |mid[ -])?{_MONTH}{_YEAR}(?!\s+(?:\d|be\b|not\b|have\b))",
        _month,
    ),
    _rule(
        rf"\b(?:on|by|from|since|until|till|before|after|for|around)\s+the\s+(?:{_DAY}|(?P<nth>"
        rf"{_any(_NTH_WORDS)}))\b(?!\s+(?!(?:at|and|but|so|or|for|with|when|if|i|we|she|he|they|in|that"
        rf"|which|then|to|unless|because)\b)\w)",
        _day_of_month,
    ),
    _rule(r"\b(?:in|since|from|by|until|during)\s+(?P<year>(?:19|20)\d\d)\b(?!-)", _year),
)
_WORTH_A_LOOK = re.compile(
    rf"\d|\b(?:{_any(_WEEKDAYS)}|{_any(_MONTHS)}|{_any(_NEAR_DAYS)}|ago|back|earlier|week|weekend|month"
    rf"|year|fortnight|days?|christmas|xmas|easter|halloween|new year|first|second|third)",
    re.IGNORECASE,
)
_NO_WEEKDAY = frozenset({"sat", "sun", "mon", "wed", "mar", "may", "march"})
"""Short names that are words of their own: read as days only with a capital or a preposition."""


def named_days(text: str, base: date, look: Look) -> list[NamedDay]:
    """The days that a text names, in the order they are named, counted from `base`.

    Overlapping readings give one day: the one of the longest expression.
    """
    if not _WORTH_A_LOOK.search(text):
        return []
    found = sorted(_readings(text, base, look), key=lambda n: (n.start - n.end, n.start))
    kept: list[NamedDay] = []
    for named in found:
        if all(named.end <= k.start or named.start >= k.end for k in kept):
            kept.append(named)
    return sorted(kept)


def _readings(text: str, base: date, look: Look) -> Iterator[NamedDay]:
    for pattern, reader in _RULES:
        for match in pattern.finditer(text):
            if _is_ordinary_word(match, reader):
                continue
            day = reader(match, base, look)
            if day is not None:
                yield NamedDay(match.start(), match.end(), day)


def _is_ordinary_word(match: re.Match[str], reader: _Reader) -> bool:
    """ "we sat down", "it may": no days."""
    if reader is not _weekday:
        return False
    name = match["weekday"]
    before = match.string[max(0, match.start() - 4) : match.start()].lower().split()[-1:]
    placed = bool(match["which"]) or before in (["on"], ["by"], ["til"], ["for"])
    return name.lower().rstrip(".") in _NO_WEEKDAY and not placed and not name[0].isupper()
