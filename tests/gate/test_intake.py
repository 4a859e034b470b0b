"""Step 1: malformed turns are refused by name, before anything is written."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from memgate_core.errors import InvalidTurnError
from memgate_core.intake import MAX_CHARACTERS, identify, subject_of
from memgate_core.model import Source, Subject, Turn

NOW = datetime(2025, 3, 2, 9, tzinfo=UTC)
ANA = Subject(user_id="ana")


def turn(text: object = "hello", **changes: object) -> Turn:
    given: dict[str, object] = {"subject": ANA, "occurred_at": NOW, **changes}
    return identify(text, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ({"text": ""}, "text"),
        ({"text": " \n"}, "text"),
        ({"text": 7}, "text"),
        ({"text": None}, "text"),
        ({"text": "a\x00b"}, "text"),
        ({"text": "a\ud800"}, "text"),
        ({"text": "x" * (MAX_CHARACTERS + 1)}, "text"),
        ({"role": "narrator"}, "role"),
        ({"source": "radio"}, "source"),
        ({"occurred_at": datetime(2025, 1, 1)}, "occurred_at"),  # noqa: DTZ001
        ({"occurred_at": "2025-01-01"}, "occurred_at"),
        ({"message_id": ""}, "message_id"),
        ({"message_id": 12}, "message_id"),
        ({"history": [{"role": "user"}]}, "history[0]"),
        ({"history": [{"role": "poet", "content": "x"}]}, "history[0]"),
    ],
)
def test_a_malformed_part_is_named(given: dict[str, object], where: str) -> None:
    with pytest.raises(InvalidTurnError) as refused:
        turn(**given)
    assert refused.value.where == where


@pytest.mark.parametrize("user_id", [None, "", "  ", 3, "a\x00"])
def test_a_missing_or_malformed_user_is_named(user_id: object) -> None:
    with pytest.raises(InvalidTurnError, match=r"subject\.user_id"):
        subject_of(user_id)


def test_times_are_normalised_to_utc() -> None:
    there = datetime(2025, 3, 2, 9, tzinfo=timezone(timedelta(hours=5, minutes=30)))
    assert turn(occurred_at=there).occurred_at == datetime(2025, 3, 2, 3, 30, tzinfo=UTC)


def test_an_id_is_minted_and_said_to_be() -> None:
    first, second = turn(), turn()
    assert first.minted
    assert first.message_id != second.message_id
    assert not turn(message_id="m1").minted


@pytest.mark.parametrize(
    ("role", "source"),
    [
        ("user", Source.USER),
        ("assistant", Source.ASSISTANT),
        ("tool", Source.TOOL),
        ("system", Source.TOOL),
    ],
)
def test_the_source_follows_the_role(role: str, source: Source) -> None:
    assert turn(role=role).source is source


def test_only_the_two_turns_before_are_kept_as_context() -> None:
    lines = [{"role": "user", "content": str(n)} for n in range(5)]
    assert [entry.content for entry in turn(history=lines).history] == ["3", "4"]
