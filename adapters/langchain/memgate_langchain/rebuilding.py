"""`rebuild`: takes what the gate owns out of a store and writes the ledger's state into it."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph.store.base import BaseStore, PutOp

from memgate_core.model import Subject
from memgate_core.rebuilt import RebuildReport
from memgate_langchain.natives import Place
from memgate_langchain.store import GatedStore


def rebuild(store: GatedStore, subjects: Sequence[Subject] | None = None) -> RebuildReport:
    """Takes out every item that carries facts, and writes each current fact anew.

    Items that no fact rests on stay. `subjects`: all of the store's tenant when None. Repeatable:
    a rebuild that broke off is simply done again.

    Raises:
        Exception: whatever the store raises.
    """
    ledger = store.gate.ledger
    whose = subjects if subjects is not None else ledger.subjects(store.namespaces.tenant)
    store.deliver()
    report = RebuildReport(projection=store.projection.name, subjects=len(whose))
    for subject in whose:
        removed = _clear(store, store.store, subject)
        current = [fact for fact in ledger.facts(subject) if fact.native]
        links = [store.projection.write_fact(fact) for fact in current]
        with ledger.write(subject) as tx:
            for link in links:
                tx.link(link)
        report = report.plus(removed=removed, current=len(current))
    return report


def _clear(gated: GatedStore, bare: BaseStore, subject: Subject) -> int:
    ledger, name = gated.gate.ledger, gated.projection.name
    found = [link for link in ledger.links(name, subject=subject) if link.fact_ids]
    places = [Place.of(link.native_id) for link in found]
    bare.batch([PutOp(place.namespace, place.key, None) for place in places])
    with ledger.write(subject) as tx:
        for link in found:
            tx.unlink(name, link.native_id)
    return len(found)
