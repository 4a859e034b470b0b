"""Recall is zero after a revocation, through every read path of every adapter that exists (article).

The same as for any framework: revoked through the gate, delivered into the real store, looked for
by every read that the bare framework has, and by the adapter's own search for residue.
"""

from __future__ import annotations

from tests.conformance.world import QUERY, World


def test_a_revoked_fact_is_recalled_by_no_read(world: World) -> None:
    world.says("I live in Leeds")
    assert world.recall("Leeds")
    done = world.gate.revocation.revoke(world.fact("Leeds").fact_id, by="Mia")
    assert world.recall("Leeds") == world.held("Leeds") == []
    assert done.clean
    assert not [place for place in done.residue if place.readable]
    assert world.gate.rollout.show().tripped is None


def test_a_revoked_plan_and_the_fact_it_became_are_recalled_by_no_read(world: World) -> None:
    world.says("I might move to Seattle")
    world.says("I have moved to Seattle")
    assert world.recall("Seattle")
    (item,) = world.gate.profile("ana").staged(status=None)
    assert world.gate.revocation.revoke(item.staged_id, by="Mia").clean
    assert world.recall("Seattle") == world.held("Seattle") == []


def test_a_held_plan_revoked_is_held_nowhere(world: World) -> None:
    world.says("I might move to Seattle")
    (item,) = world.gate.profile("ana").staged()
    assert world.gate.revocation.revoke(item.staged_id, by="Mia").clean
    assert world.held("Seattle") == world.recall("Seattle") == []


def test_a_superseded_fact_revoked_is_recalled_by_no_read(world: World) -> None:
    world.says("I live in Leeds")
    leeds = world.fact("Leeds").fact_id
    world.says("I moved to York")
    assert world.gate.revocation.revoke(leeds, by="Mia").clean
    assert world.recall("Leeds") == []
    assert len(world.recall("York")) == 1


def test_a_revoked_message_brings_back_what_it_had_replaced(world: World) -> None:
    world.says("I live in Leeds")
    world.says("I moved to York")
    done = world.gate.revocation.message(world.ana, "m2", by="Mia")
    assert done.clean
    assert world.recall("York") == []
    assert world.current() == "Leeds"
    assert len(world.recall("Leeds")) == 1


def test_ignore_my_last_message_reaches_the_framework(world: World) -> None:
    world.says("I live in Leeds")
    world.says("I might move to Seattle")
    world.says("I have moved to Seattle")
    world.says("oops, ignore my last message, wrong chat")
    assert world.current() == "Leeds"
    assert world.recall("Seattle") == []
    assert len(world.recall("Leeds")) == 1
    assert world.held("Seattle")


def test_an_erased_subject_is_recalled_by_no_read(world: World) -> None:
    world.says("I live in Leeds")
    world.says("I might move to Seattle")
    done = world.gate.revocation.erase(world.ana, by="Mia")
    assert done.clean
    assert list(world.store.recall(world.ana, QUERY)) == []
    assert list(world.store.held(world.ana)) == []


def test_what_was_revoked_does_not_come_back_with_a_second_delivery(world: World) -> None:
    world.says("I might move to Seattle")
    world.says("I have moved to Seattle")
    world.gate.revocation.revoke(world.fact("Seattle").fact_id, by="Mia")
    for event in world.gate.ledger.events():
        world.store.projection.apply(event)
    assert world.recall("Seattle") == world.held("Seattle") == []
