"""What every ledger backend does with held items."""

from __future__ import annotations

import pytest

from memgate_core.errors import NotAllowedError, NotFoundError
from memgate_core.ledger.sql_ledger import SqlLedger
from memgate_core.ledger.terms import terms_of
from memgate_core.model import StagedStatus
from tests.support.build import ANA, BEN, day, make_fact, make_key, make_staged
from tests.support.ledgers import discard, hold, moved_to, promote


def plan(number: int, words: str, **rest: object) -> object:
    """An open plan of its own key."""
    rest.setdefault("created_at", day(number))
    return make_staged(
        words,
        f"m{number}",
        key=make_key(f"open{number}"),
        attribute=None,
        text=words,
        words=words,
        **rest,
    )


def found(ledger: SqlLedger, text: str, limit: int = 8, session: str | None = None) -> list[str]:
    items = ledger.touched(ANA, terms_of(text), session=session, limit=limit)
    return [item.words for item in items]


def test_a_held_item_is_read_back_as_it_was_held(ledger: SqlLedger) -> None:
    item = hold(ledger, make_staged(review_at=day(30), session="s1"))
    assert ledger.staged_item(item.staged_id) == item
    assert ledger.staged(ANA) == [item]
    assert ledger.pending_on(ANA, item.key) == [item]
    assert ledger.pending_count(ANA) == 1
    assert (ledger.staged(BEN), ledger.pending_count(BEN)) == ([], 0)
    assert ledger.oldest_pending() == item.created_at
    assert ledger.due_for_review(day(29)) == []
    assert ledger.due_for_review(day(30)) == [item]


def test_an_item_is_held_once(ledger: SqlLedger) -> None:
    hold(ledger, make_staged())
    with pytest.raises(NotAllowedError):
        hold(ledger, make_staged())
    assert ledger.pending_count(ANA) == 1


def test_only_one_of_two_settlers_moves_an_item(ledger: SqlLedger) -> None:
    item = hold(ledger, make_staged())
    discard(ledger, item)
    with pytest.raises(NotAllowedError):
        promote(ledger, item, make_fact("Seattle", "m9"))
    assert ledger.facts(ANA) == []
    stored = ledger.staged_item(item.staged_id)
    assert stored is not None
    assert stored.status is StagedStatus.DISCARDED
    assert ledger.pending_count(ANA) == 0
    assert ledger.staged(ANA) == []
    assert ledger.staged(ANA, status=None) == [stored]
    assert ledger.staged(ANA, status=StagedStatus.DISCARDED) == [stored]


def test_items_of_nobody_or_of_another_are_not_moved(ledger: SqlLedger) -> None:
    item = make_staged()
    with pytest.raises(NotFoundError), ledger.write(ANA) as tx:
        tx.update_staged(item, expected=StagedStatus.PENDING)
    hold(ledger, item)
    with pytest.raises(NotAllowedError), ledger.write(BEN) as tx:
        tx.update_staged(item, expected=StagedStatus.PENDING)


def test_listing_is_by_age_and_limited(ledger: SqlLedger) -> None:
    late = hold(ledger, plan(5, "paint the shed"))
    early = hold(ledger, plan(1, "visit Oslo"))
    assert ledger.staged(ANA) == [early, late]
    assert ledger.staged(ANA, limit=1) == [early]


def test_a_turn_touches_what_shares_its_words(ledger: SqlLedger) -> None:
    for number, words in enumerate(
        ["might sell the piano", "thinking of buying a kayak", "may move to Oslo next spring"]
    ):
        hold(ledger, plan(number, words))
    assert found(ledger, "Sold it, the piano went yesterday")[0] == "might sell the piano"
    assert found(ledger, "I bought the kayak!")[0] == "thinking of buying a kayak"
    assert found(ledger, "We have moved, Oslo is lovely")[0] == "may move to Oslo next spring"


def test_more_and_rarer_shared_words_come_first(ledger: SqlLedger) -> None:
    hold(ledger, plan(0, "might paint the blue shed"))
    for number in range(1, 6):
        hold(ledger, plan(number, f"might paint room {number}"))
    assert found(ledger, "painted the shed")[0] == "might paint the blue shed"


def test_the_newest_are_looked_at_although_they_share_no_word(ledger: SqlLedger) -> None:
    for number in range(30):
        hold(ledger, plan(number, f"might run route {number}"))
    hold(ledger, plan(40, "thinking of getting Pegasus trainers"))
    looked_at = found(ledger, "did my usual route before the run", limit=8)
    assert "thinking of getting Pegasus trainers" in looked_at
    assert len(looked_at) == 8
    assert len(set(looked_at)) == 8


def test_items_of_the_same_session_come_before_other_new_ones(ledger: SqlLedger) -> None:
    hold(ledger, plan(1, "visit Oslo", session="s1"))
    for number in range(2, 9):
        hold(ledger, plan(number, f"thing {number}"))
    assert found(ledger, "quite so", limit=2, session="s1")[0] == "visit Oslo"
    assert "visit Oslo" not in found(ledger, "quite so", limit=2)


def test_settled_items_are_not_touched(ledger: SqlLedger) -> None:
    item = hold(ledger, make_staged())
    discard(ledger, item)
    assert ledger.touched(ANA, terms_of("moved to Seattle"), session=None, limit=8) == []


def test_a_restated_plan_is_found_by_its_new_words(ledger: SqlLedger) -> None:
    item = hold(ledger, make_staged("Seattle"))
    again = item.model_copy(update={"words": "the Emerald City it is", "times_stated": 2})
    with ledger.write(ANA) as tx:
        tx.update_staged(again, expected=StagedStatus.PENDING)
    assert found(ledger, "we love the emerald city")[0] == "the Emerald City it is"
    assert ledger.pending_count(ANA) == 1


def test_an_item_can_become_pending_again(ledger: SqlLedger) -> None:
    item = hold(ledger, make_staged())
    for status, expected in [
        (StagedStatus.PROMOTING, StagedStatus.PENDING),
        (StagedStatus.PENDING, StagedStatus.PROMOTING),
    ]:
        with ledger.write(ANA) as tx:
            tx.update_staged(moved_to(item, status), expected=expected)
    assert ledger.pending_count(ANA) == 1
    assert found(ledger, "moved to Seattle") == [item.words]


def test_nothing_is_looked_for_without_room(ledger: SqlLedger) -> None:
    hold(ledger, make_staged())
    assert found(ledger, "moved to Seattle", limit=0) == []
    assert found(ledger, "", limit=1) == [make_staged().words]


def test_what_comes_from_a_message_is_found_through_every_step(ledger: SqlLedger) -> None:
    item = hold(ledger, make_staged("Seattle", "m1"))
    fact = promote(
        ledger,
        item,
        make_fact("Seattle", "m2").model_copy(update={"derived_from": (item.staged_id,)}),
    )
    child = make_fact("rainy", "m3", key=make_key("weather"), derived_from=(fact.fact_id,))
    with ledger.write(ANA) as tx:
        tx.lock([child.key])
        tx.commit_fact(child, expected_version=0)
        assert [one.fact_id for one in tx.descent(fact.fact_id).facts] == [child.fact_id]
    from_plan = ledger.descent(ANA, message_id="m1")
    assert [one.staged_id for one in from_plan.staged] == [item.staged_id]
    assert {one.fact_id for one in from_plan.facts} == {fact.fact_id, child.fact_id}
    from_confirmation = ledger.descent(ANA, message_id="m2")
    assert from_confirmation.staged == ()
    assert {one.fact_id for one in from_confirmation.facts} == {fact.fact_id, child.fact_id}
    assert ledger.descent(ANA, item.proposal_id).staged == from_plan.staged
    assert ledger.descent(BEN, message_id="m1").facts == ()


def test_pending_items_on_a_key_are_read_inside_the_transaction(ledger: SqlLedger) -> None:
    first = hold(ledger, make_staged("Oslo", "m1"))
    second = make_staged("Bath", "m2", created_at=day(1))
    with ledger.write(ANA) as tx:
        tx.stage(second)
        assert list(tx.pending_on(first.key)) == [first, second]
