"""`rebuild`: drops what the gate owns in a Mem0 store and writes the ledger's state into it."""

from __future__ import annotations

from collections.abc import Sequence

from memgate_core.model import Fact, FactStatus, Subject
from memgate_core.rebuilt import RebuildReport, as_staged
from memgate_mem0.natives import CLOSED, STAGED
from memgate_mem0.payloads import closed_payload, fact_payload, promoted_id
from memgate_mem0.store_desk import StoreDesk


def rebuild(desk: StoreDesk, subjects: Sequence[Subject] | None = None) -> RebuildReport:
    """Empties the staged and the closed collection, takes every memory that carries facts out of
    the main one, and writes each fact and held item of the ledger anew, in its own words.

    Memories that no fact rests on (chatter, what was there before the gate) stay. `subjects`: all
    of the desk's tenant when None. Repeatable: a rebuild that broke off is simply done again.

    Raises:
        Exception: whatever Mem0's stores raise.
    """
    whose = subjects if subjects is not None else desk.gate.ledger.subjects(desk.tenant)
    desk.deliver()
    if subjects is None:
        for suffix in (STAGED, CLOSED):
            desk.projection.natives.drop(suffix)
    report = RebuildReport(projection=desk.name, subjects=len(whose))
    for subject in whose:
        report = _rebuild_one(desk, subject, report)
    return report


def _rebuild_one(desk: StoreDesk, subject: Subject, report: RebuildReport) -> RebuildReport:
    ledger = desk.gate.ledger
    removed = _clear(desk, subject)
    facts = [f for f in ledger.facts(subject, include_closed=True) if f.native]
    current = [fact for fact in facts if fact.status is FactStatus.CURRENT]
    ended = [fact for fact in facts if fact.status is FactStatus.SUPERSEDED]
    links = [desk.projection.write_fact(fact, subject, None) for fact in current]
    with ledger.write(subject) as tx:
        for link in links:
            tx.link(link)
    for fact in ended:
        _write_closed(desk, subject, fact)
    held = list(ledger.staged(subject))
    for item in held:
        desk.projection.apply(as_staged(subject, item))
    return report.plus(removed=removed, current=len(current), closed=len(ended), staged=len(held))


def _clear(desk: StoreDesk, subject: Subject) -> int:
    """Takes out every memory that carries a fact, and forgets the links."""
    natives, ledger = desk.projection.natives, desk.gate.ledger
    found = [
        link
        for link in ledger.links(desk.name, subject=subject)
        if link.fact_ids or link.staged_ids
    ]
    removed = 0
    for link in found:
        payload = natives.get(natives.main, link.native_id)
        if payload is not None:
            desk.projection.carriers.take_from_main(
                link.native_id, payload, str(payload.get("created_at"))
            )
            removed += 1
        for store in (natives.staged, natives.closed):
            removed += natives.remove(store, link.native_id)
    with ledger.write(subject) as tx:
        for link in found:
            tx.unlink(desk.name, link.native_id)
    return removed


def _write_closed(desk: StoreDesk, subject: Subject, fact: Fact) -> None:
    natives = desk.projection.natives
    ids = desk.projection.scope_of(subject, fact.evidence.message_id, None).stored
    text = desk.projection.text_of(fact)
    payload = closed_payload(fact_payload(fact, text, ids), fact)
    native_id = promoted_id(desk.name, fact)
    natives.put(natives.closed, native_id, payload, words=text)
