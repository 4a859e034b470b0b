"""Review days and event times, from the turn's own clock (2 March 2026, a Monday, 09:00 UTC)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgate_core.extraction.local import LocalExtractor
from memgate_core.model import Instant
from memgate_core.resolution.dates import event_time, review_at
from tests.support.build import MARCH, make_turn


def reviewed(text: str, statement: int = 0) -> Instant | None:
    turn = make_turn(text)
    return review_at(turn, LocalExtractor().extract(turn)[statement])


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("on 3 May I'll switch", datetime(2026, 5, 3, tzinfo=UTC)),
        ("next Tuesday", datetime(2026, 3, 10, tzinfo=UTC)),
        ("billing rolls over on the 28th", datetime(2026, 3, 28, tzinfo=UTC)),
        ("we might go in June", datetime(2026, 6, 1, tzinfo=UTC)),
        ("today I'll sign", datetime(2026, 3, 2, tzinfo=UTC)),
        ("the 8th of September, that Tuesday is when I start", datetime(2026, 9, 8, tzinfo=UTC)),
    ],
)
def test_the_day_the_words_name(text: str, day: datetime) -> None:
    assert reviewed(text) == day


@pytest.mark.parametrize(
    "text", ["I might move", "maybe one day", "on 3 May 2020 I'd have said yes"]
)
def test_no_day_no_review(text: str) -> None:
    assert reviewed(text) is None


def test_that_day_looks_back_into_the_message() -> None:
    text = "The lease runs till the 9th of October. That Friday is when we hand over the keys"
    assert reviewed(text, 1) == datetime(2026, 10, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("words", "when"),
    [
        ("We finished the roof yesterday.", datetime(2026, 3, 1, tzinfo=UTC)),
        ("the sale went through last Friday", datetime(2026, 2, 27, tzinfo=UTC)),
        ("signed on Monday", datetime(2026, 2, 23, tzinfo=UTC)),
        ("two weeks ago", datetime(2026, 2, 16, tzinfo=UTC)),
        ("as of this morning it's mine", datetime(2026, 3, 2, tzinfo=UTC)),
        ("sold it in January", datetime(2026, 1, 1, tzinfo=UTC)),
        ("Lease is renewed.", MARCH),
        ("picked it up an hour ago", MARCH),
        ("we start on 20 March", MARCH),
        ("it's ours until Friday", MARCH),
        ("tomorrow is the big day", MARCH),
    ],
)
def test_when_it_happened(words: str, when: datetime) -> None:
    assert event_time(make_turn(words), words) == when


def test_a_replayed_conversation_keeps_its_own_time() -> None:
    spoken = datetime(2019, 3, 2, 9, tzinfo=UTC)
    turn = make_turn("We finished the roof yesterday.", occurred_at=spoken)
    assert event_time(turn, turn.text) == datetime(2019, 3, 1, tzinfo=UTC)


def test_days_are_utc_days() -> None:
    evening = datetime(2026, 3, 2, 20, tzinfo=timezone(timedelta(hours=-8)))
    turn = make_turn("did it yesterday", occurred_at=evening)
    assert event_time(turn, turn.text) == datetime(2026, 3, 2, tzinfo=UTC)


@settings(max_examples=150)
@given(
    st.one_of(
        st.text(max_size=60),
        st.lists(
            st.sampled_from(
                [
                    "on",
                    "the",
                    "last",
                    "next",
                    "this",
                    "3",
                    "28th",
                    "May",
                    "Friday",
                    "yesterday",
                    "tomorrow",
                    "in",
                    "two",
                    "weeks",
                    "ago",
                    "since",
                    "2019",
                    "2031",
                    "June",
                    "by",
                    "until",
                    "Christmas",
                    "today",
                    "I",
                    "sold",
                    "it",
                ]
            ),
            max_size=10,
        ).map(" ".join),
    ),
    st.integers(800_000_000, 3_700_000_000).map(lambda s: datetime.fromtimestamp(s, UTC)),
)
def test_events_are_never_ahead_and_reviews_never_behind(text: str, now: datetime) -> None:
    turn = make_turn(text or "x", occurred_at=now)
    assert event_time(turn, turn.text) <= now
    for candidate in LocalExtractor().extract(turn):
        review = review_at(turn, candidate)
        assert review is None or review.date() >= now.date()
