"""The local checker: the rules around the model, and the plainest of cases with the weights."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memgate_core.judgement.shared import shared_encoders
from memgate_core.model import (
    Evidence,
    FieldKey,
    HistoryTurn,
    ResolutionType,
    Role,
    Source,
    Span,
    StagedItem,
    Subject,
    Turn,
    sha256_of,
)
from memgate_core.resolution.checker import LocalChecker
from memgate_core.resolution.passages import passages
from memgate_core.resolution.plain_words import before_its_day, plainly_done

SUBJECT = Subject(user_id="maud")
WHEN = datetime(2025, 3, 2, 12, tzinfo=UTC)
CONFIRM, ABANDON, NOTHING = ResolutionType.CONFIRM, ResolutionType.ABANDON, ResolutionType.NOTHING


def held(value: str, text: str, words: str, attribute: str = "streaming_service") -> StagedItem:
    name = f"item-{value}"
    return StagedItem(
        staged_id=name,
        proposal_id=f"proposal-{value}",
        key=FieldKey(subject=SUBJECT, normalized_key=attribute),
        attribute=attribute,
        value=value,
        text=text,
        words=words,
        promote_when=f"the user says that it has happened: {text}",
        discard_when=f"the user drops it: {text}",
        evidence=Evidence(message_id="m1", start=0, end=len(words), sha256=sha256_of(words)),
        created_at=WHEN,
        last_stated_at=WHEN,
    )


MUBI = held("MUBI", "subscribes to MUBI", "I might switch to MUBI next month")
SHUDDER = held("Shudder", "subscribes to Shudder", "or maybe Shudder instead")
PIANO = held("sold", "sold the piano", "I might sell the piano", attribute="piano")


def said(text: str, *, role: Role = Role.USER, asked: str | None = None, **more: object) -> Turn:
    history = (HistoryTurn(role=Role.ASSISTANT, content=asked),) if asked else ()
    return Turn.model_validate(
        {
            "subject": SUBJECT,
            "message_id": "m2",
            "role": role,
            "text": text,
            "occurred_at": WHEN,
            "history": history,
            **more,
        }
    )


@pytest.fixture(scope="module")
def checker() -> LocalChecker:
    return LocalChecker()


def test_nothing_is_held_nothing_is_said(checker: LocalChecker) -> None:
    assert checker.check(said("hello"), []) == []


@pytest.mark.parametrize(
    "turn",
    [
        said("The switch to MUBI went through.", role=Role.ASSISTANT, source=Source.ASSISTANT),
        said("The switch to MUBI went through.", role=Role.TOOL, source=Source.TOOL),
        said("The switch to MUBI went through.", source=Source.WEB),
        said("The switch to MUBI went through.", taint=frozenset({"pasted"})),
    ],
)
def test_only_the_user_s_own_words_settle(checker: LocalChecker, turn: Turn) -> None:
    assert [j.resolution for j in checker.check(turn, [MUBI, PIANO])] == [NOTHING, NOTHING]


def test_a_bare_yes_settles_only_what_was_offered(checker: LocalChecker) -> None:
    turn = said("yes", asked="Did you go with MUBI in the end?")
    assert [j.resolution for j in checker.check(turn, [MUBI, PIANO])] == [NOTHING, NOTHING]
    offered = checker.check(turn, [MUBI, PIANO], offered=MUBI.staged_id)
    assert [j.resolution for j in offered] == [CONFIRM, NOTHING]
    refused = checker.check(said("nope", asked="Did you?"), [MUBI], offered=MUBI.staged_id)
    assert [j.resolution for j in refused] == [ABANDON]


def test_ok_after_something_else_settles_nothing(checker: LocalChecker) -> None:
    turn = said("OK.", asked="Shall I set a timer for the eggs?")
    assert {j.resolution for j in checker.check(turn, [MUBI, PIANO])} == {NOTHING}


def test_one_judgement_an_item_in_order_without_a_model_call(checker: LocalChecker) -> None:
    items = [held(f"Service {n}", f"subscribes to Service {n}", "maybe") for n in range(30)]
    judged = checker.check(said("what's a good lentil soup?"), items)
    assert [j.staged_id for j in judged] == [item.staged_id for item in items]
    assert {j.resolution for j in judged} == {NOTHING}
    assert sum(j.model_calls for j in judged) == 0
    assert all(j.reason for j in judged)


def test_a_plain_confirmation_names_its_words(checker: LocalChecker) -> None:
    text = "What shall I cook? By the way, the switch to MUBI went through yesterday."
    [judgement] = checker.check(said(text), [MUBI])
    assert judgement.resolution is CONFIRM
    assert judgement.span is not None
    assert "MUBI" in judgement.span.of(text)
    assert judgement.span != Span(start=0, end=len(text))


def test_a_plain_refusal_abandons(checker: LocalChecker) -> None:
    [judgement] = checker.check(said("I've decided against MUBI, staying with Netflix."), [MUBI])
    assert judgement.resolution is ABANDON


@pytest.mark.parametrize(
    "text",
    [
        "My brother has MUBI and won't stop talking about it.",
        "Is MUBI worth the money, do you think?",
        "Still haven't decided about MUBI, remind me on Friday.",
        "what's the difference between a bow and a bend?",
    ],
)
def test_what_leaves_it_open(checker: LocalChecker, text: str) -> None:
    [judgement] = checker.check(said(text), [MUBI])
    assert judgement.resolution is not CONFIRM


def test_a_confirmed_value_closes_its_rival(checker: LocalChecker) -> None:
    turn = said("I'm subscribed to MUBI now, signed up last night.")
    mubi, shudder = checker.check(turn, [MUBI, SHUDDER])
    assert mubi.resolution is CONFIRM
    assert shudder.resolution is not CONFIRM


@pytest.mark.parametrize(
    "text",
    [
        "They moved her to the night shift so the MUBI thing never happened.",
        "MUBI fell through, so I've settled in with the library's films.",
        "So that idea is dead, MUBI and all. We've settled on the cinema round the corner.",
    ],
)
def test_words_that_a_plan_is_off_confirm_none(text: str) -> None:
    (judged,) = LocalChecker().check(said(text), [MUBI])
    assert judged.resolution is not CONFIRM


@pytest.mark.parametrize(
    "text", ["I went ahead with it and subscribed last night.", "We went ahead, box and all."]
)
def test_going_ahead_is_no_abandonment(text: str) -> None:
    (judged,) = LocalChecker().check(said(text), [MUBI])
    assert judged.resolution is CONFIRM


def test_two_held_items_are_not_both_gone_ahead_with() -> None:
    judged = LocalChecker().check(said("I went ahead with it, card in hand."), [MUBI, PIANO])
    assert sum(j.resolution is CONFIRM for j in judged) <= 1
    assert all(j.resolution is not ABANDON for j in judged)


def test_the_day_that_a_plan_names() -> None:
    dated = MUBI.model_copy(update={"review_at": WHEN + timedelta(days=9)})
    turn = said("First night with it.")
    assert before_its_day(turn, dated)
    assert not before_its_day(turn, MUBI)
    assert not before_its_day(turn.model_copy(update={"occurred_at": dated.review_at}), dated)


def test_the_users_own_move_settles_no_plan_of_another_person() -> None:
    sisters = held(
        "Leeds", "moves to Leeds", "My sister might move to Leeds", attribute="home_city"
    )
    hers = sisters.model_copy(update={"entity": "my sister"})
    turn = said("I have moved to Leeds.")
    assert plainly_done(turn, sisters) is not None
    assert plainly_done(turn, hers) is None


def test_what_stands_behind_a_long_opening_settles_too() -> None:
    opening = "The allotment flooded again and nobody from the council came to look at it. " * 8
    (judged,) = LocalChecker().check(said(f"{opening}I switched to MUBI last night."), [MUBI])
    assert judged.resolution is CONFIRM
    assert judged.span is not None
    told = f"{opening}The MUBI idea is off, we cancelled the whole thing for good."
    (judged,) = LocalChecker().check(said(told), [MUBI])
    assert judged.resolution is ABANDON


def test_a_very_long_message_is_read_in_a_dozen_passages() -> None:
    layout = shared_encoders().layout
    text = "The ferry did not run and the river was high again this morning, they said. " * 4_000
    found = passages(text, layout)
    assert len(found) == 12
    assert found[0].start == 0
    assert found[-1].end == len(text.rstrip())
    assert all(layout.head(one.of(text), 81).ids[80:] == () for one in found)
