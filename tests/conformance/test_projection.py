"""What every adapter's projection has to do, whatever the framework.

The same conversations run through a real gate with scripted judges; the events that follow are
delivered into the real framework store. Nothing here knows an adapter: see `stores.py` for how one
joins in.
"""

from __future__ import annotations

from memgate_core.model import Event, EventType, FactStatus, StagedStatus
from memgate_core.projection import is_outside_reads
from tests.conformance.world import QUERY, World


def test_a_committed_fact_that_no_call_carried_is_written_once(world: World) -> None:
    world.says("I live in Leeds")
    assert len(world.recall("Leeds")) == 1
    assert world.current() == "Leeds"


def test_a_held_item_is_shown_by_no_read(world: World) -> None:
    world.says("I live in Leeds")
    world.says("I might move to Seattle")
    assert world.recall("Seattle") == []
    assert world.held("Seattle")
    assert world.current() == "Leeds"


def test_a_restated_plan_is_held_once(world: World) -> None:
    world.says("I might move to Seattle")
    world.says("I might move to Seattle")
    assert len(world.held("Seattle")) == 1
    assert world.recall("Seattle") == []


def test_a_discarded_item_is_gone_everywhere(world: World) -> None:
    world.says("I might move to Seattle")
    world.says("that move is off")
    assert world.recall("Seattle") == world.held("Seattle") == []


def test_a_promotion_is_written_once_and_ends_the_old_value(world: World) -> None:
    world.says("I live in Leeds")
    world.says("I might move to Seattle")
    world.says("I have moved to Seattle")
    assert len(world.recall("Seattle")) == 1
    assert world.recall("Leeds") == []
    assert world.held("Seattle") == []
    assert world.current() == "Seattle"


def test_a_promotion_delivered_twice_is_one_memory(world: World) -> None:
    world.says("I might move to Seattle")
    world.says("I have moved to Seattle")
    (promoted,) = world.events(EventType.PROMOTED)
    first = world.store.projection.apply(promoted)
    second = world.store.projection.apply(promoted)
    assert [link.native_id for link in first] == [link.native_id for link in second]
    assert len(world.recall("Seattle")) == 1


def test_every_event_once_more_changes_nothing(world: World) -> None:
    world.says("I live in Leeds")
    world.says("I might move to Seattle")
    world.says("I might join Initech")
    world.says("I have moved to Seattle")
    before = sorted(world.store.recall(world.ana, QUERY)), sorted(world.store.held(world.ana))
    for event in world.gate.ledger.events():
        world.store.projection.apply(event)
    after = sorted(world.store.recall(world.ana, QUERY)), sorted(world.store.held(world.ana))
    assert after == before


def test_a_superseded_value_leaves_the_reads_and_may_come_back(world: World) -> None:
    world.says("I live in Leeds")
    world.says("I moved to York")
    assert world.recall("Leeds") == []
    assert len(world.recall("York")) == 1
    world.says("I moved to Leeds")
    assert len(world.recall("Leeds")) == 1
    assert world.recall("York") == []


def test_a_corrected_value_was_never_there(world: World) -> None:
    world.says("I live in Leeds")
    world.says("it was Hull all along")
    assert world.recall("Leeds") == []
    assert len(world.recall("Hull")) == 1
    assert world.fact("Leeds").status is FactStatus.NEVER_VALID
    for event in world.events(EventType.CORRECTED):
        assert list(world.store.projection.residue(event)) == list(_outside(world, event))


def test_recall_is_zero_after_a_revocation(world: World) -> None:
    world.says("I might move to Seattle")
    world.says("I have moved to Seattle")
    report = world.gate.revocation.revoke(world.fact("Seattle").fact_id, by="Ana")
    assert report.clean
    assert world.recall("Seattle") == world.held("Seattle") == []
    for event in world.events(EventType.REVOKED):
        world.store.projection.apply(event)
        assert list(world.store.projection.residue(event)) == list(_outside(world, event))
    assert world.recall("Seattle") == []
    assert world.gate.rollout.show().tripped is None


def test_a_revoked_plan_is_gone(world: World) -> None:
    held = world.says("I might move to Seattle")
    staged_id = held.judged[0].staged_id
    assert staged_id is not None
    assert world.gate.revocation.revoke(staged_id, by="Ana").clean
    assert world.recall("Seattle") == world.held("Seattle") == []


def test_what_a_revoked_message_had_replaced_holds_again(world: World) -> None:
    world.says("I live in Leeds")
    moved = world.says("I moved to York")
    report = world.gate.revocation.message(world.ana, moved.message_id, by="Ana")
    assert report.clean
    assert world.recall("York") == []
    assert len(world.recall("Leeds")) == 1
    assert world.current() == "Leeds"


def test_a_plan_that_a_revoked_message_had_settled_is_held_again(world: World) -> None:
    world.says("I might move to Seattle")
    done = world.says("I have moved to Seattle")
    world.gate.revocation.message(world.ana, done.message_id, by="Ana")
    assert world.recall("Seattle") == []
    assert world.held("Seattle")


def test_a_late_delivery_does_not_bring_back_what_was_revoked(world: World) -> None:
    world.says("I might move to Seattle")
    world.says("I have moved to Seattle")
    world.gate.revocation.revoke(world.fact("Seattle").fact_id, by="Ana")
    for event in world.gate.ledger.events():
        world.store.projection.apply(event)
    assert world.recall("Seattle") == world.held("Seattle") == []


def test_an_erased_subject_is_gone_and_the_others_are_not(world: World) -> None:
    world.says("I live in Leeds")
    world.says("I might move to Seattle")
    world.says("I live in York", who="ben")
    assert world.gate.revocation.erase(world.ana, by="Ana").residue == ()
    assert list(world.store.recall(world.ana, QUERY)) == []
    assert list(world.store.held(world.ana)) == []
    assert len(world.recall("York", who="ben")) == 1


def test_two_subjects_do_not_see_each_other(world: World) -> None:
    world.says("I live in Leeds")
    world.says("I live in York", who="ben")
    assert world.recall("York") == world.recall("Leeds", who="ben") == []


def test_a_crash_between_write_and_acknowledgement_is_healed(world: World) -> None:
    world.says("I might move to Seattle")
    world.says("I have moved to Seattle", deliver=False)
    for delivery in world.gate.ledger.due(world.store.projection.name):
        world.store.projection.apply(delivery.event)  # written, never acknowledged
    assert world.current() is None
    world.delivered()
    assert world.current() == "Seattle"
    assert len(world.recall("Seattle")) == 1


def test_a_native_write_that_raises_leaves_the_item_unreadable_until_it_heals(
    world: World,
) -> None:
    world.says("I live in Leeds")
    world.says("I might move to Seattle")
    with world.store.failing():
        receipt = world.says("I have moved to Seattle", deliver=False)
        report = world.delivered()
    assert report.failed >= 1
    assert report.errors
    (resolved,) = receipt.resolved
    item = world.gate.ledger.staged_item(resolved.staged_id)
    assert item is not None
    assert item.status is StagedStatus.PROMOTING
    assert world.recall("Seattle") == []
    assert world.current() == "Leeds"
    assert world.delivered().failed == 0
    assert len(world.recall("Seattle")) == 1
    assert world.current() == "Seattle"


def _outside(world: World, event: Event) -> list[str]:
    """What may be left: places that the framework keeps outside its stores, named as such."""
    found = world.store.projection.residue(event)
    return [place for place in found if is_outside_reads(place)]
