"""Days that words name, counted from a Wednesday (14 May 2025)."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgate_core.language.calendar import Look, named_days

WEDNESDAY = date(2025, 5, 14)


def days(text: str, look: Look) -> list[date]:
    return [named.day for named in named_days(text, WEDNESDAY, look)]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("tomorrow", date(2025, 5, 15)),
        ("on Friday", date(2025, 5, 16)),
        ("next Tuesday", date(2025, 5, 20)),
        ("this Saturday", date(2025, 5, 17)),
        ("on 3 May", date(2026, 5, 3)),
        ("Monday 2 June", date(2025, 6, 2)),
        ("June 2nd at 5pm", date(2025, 6, 2)),
        ("the 8th of September", date(2025, 9, 8)),
        ("on the 28th", date(2025, 5, 28)),
        ("by the first I'm gone", date(2025, 6, 1)),
        ("Saturday the 19th", date(2025, 7, 19)),
        ("on 2/6", date(2025, 6, 2)),
        ("from 25.12.2025", date(2025, 12, 25)),
        ("2025-08-01", date(2025, 8, 1)),
        ("in June", date(2025, 6, 1)),
        ("next month", date(2025, 6, 1)),
        ("next week", date(2025, 5, 19)),
        ("in two weeks", date(2025, 5, 28)),
        ("three months from now", date(2025, 8, 14)),
        ("a fortnight from now", date(2025, 5, 28)),
        ("this weekend", date(2025, 5, 17)),
        ("by the end of the month", date(2025, 5, 31)),
        ("before Christmas", date(2025, 12, 25)),
        ("after Easter", date(2026, 4, 5)),
        ("on 29 February", date(2028, 2, 29)),
    ],
)
def test_looking_ahead(text: str, day: date) -> None:
    assert days(text, Look.AHEAD) == [day]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("yesterday", date(2025, 5, 13)),
        ("last night", date(2025, 5, 13)),
        ("the day before yesterday", date(2025, 5, 12)),
        ("last Friday", date(2025, 5, 9)),
        ("on Tuesday", date(2025, 5, 13)),
        ("on Wednesday", date(2025, 5, 7)),
        ("two weeks ago", date(2025, 4, 30)),
        ("a couple of months ago", date(2025, 3, 14)),
        ("last month", date(2025, 4, 1)),
        ("in March", date(2025, 3, 1)),
        ("on 3 May", date(2025, 5, 3)),
        ("over the weekend", date(2025, 5, 10)),
        ("since 2019", date(2019, 1, 1)),
        ("gestern", date(2025, 5, 13)),
    ],
)
def test_looking_back(text: str, day: date) -> None:
    assert days(text, Look.BACK) == [day]


@pytest.mark.parametrize(
    "text",
    [
        "it may rain", "we sat down", "at 9:40", "six weeks", "the third time", "40 trees",
        "31 February", "the first attempt", "mon dieu", "march on", "version 3.5", "1 in 10",
    ],
)  # fmt: skip
def test_what_names_no_day(text: str) -> None:
    assert days(text, Look.AHEAD) == []


@given(st.text(max_size=80), st.dates(min_value=date(1990, 1, 1), max_value=date(2090, 1, 1)))
def test_any_text_is_read_without_a_fault(text: str, base: date) -> None:
    for look in Look:
        for named in named_days(text, base, look):
            assert 0 <= named.start < named.end <= len(text)
