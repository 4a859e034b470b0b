"""What an add call answers beside Mem0's own results: one entry for each thing the gate did."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memgate_core.ledger.protocol import Ledger
from memgate_core.model import Fact, Judged, Receipt, Resolved, StagedStatus
from memgate_mem0.legacy import Doubt
from memgate_mem0.payloads import PLAN, promoted_id, readable

Entry = dict[str, Any]


def entries(receipt: Receipt, ledger: Ledger, name: str) -> list[Entry]:
    """STAGE, PROMOTE, DISCARD, SUPERSEDE, CORRECT and REVOKE entries of one turn, in its order.

    A held item's `memory` is labelled as a plan. `id` is the held item's id, or the id of the
    Mem0 memory where there is one.
    """
    if receipt.shadow:
        return []
    found = [_staged(j) for j in receipt.judged if j.staged_id is not None]
    found += [_resolved(r, ledger, name) for r in receipt.resolved]
    for judged in receipt.judged:
        found += _closed(judged, ledger, name)
    return [*found, *(_withdrawn(one, ledger, name) for one in receipt.withdrawn)]


def doubtful(doubt: Doubt) -> Entry:
    """An entry for an older memory that may contradict a new fact."""
    return {
        "id": doubt.native_id,
        "memory": doubt.text,
        "event": "CONFIRM_REPLACE",
        "reason": "stored before the gate; it may contradict what was said now",
    }


def mark_undelivered(found: list[Entry], ledger: Ledger) -> list[Entry]:
    """Marks promotions whose native write is still due: no read shows them yet."""
    return [_marked(entry, ledger) for entry in found]


def _marked(entry: Entry, ledger: Ledger) -> Entry:
    if entry.get("event") != "PROMOTE" or "staged_id" not in entry:
        return entry
    item = ledger.staged_item(entry["staged_id"])
    due = item is not None and item.status is StagedStatus.PROMOTING
    return {**entry, "pending": True} if due else entry


def _staged(judged: Judged) -> Entry:
    return {
        "id": judged.staged_id,
        "memory": PLAN + judged.candidate.text,
        "event": "STAGE",
        "reason": judged.decision.reason,
    }


def _resolved(resolved: Resolved, ledger: Ledger, name: str) -> Entry:
    fact = ledger.fact(resolved.fact_id) if resolved.fact_id is not None else None
    if fact is None:
        return {
            "id": resolved.staged_id,
            "memory": PLAN + resolved.text,
            "event": "DISCARD",
            "reason": resolved.reason,
        }
    return {
        "id": _native(fact, ledger, name),
        "memory": readable(fact.text, fact.entity),
        "event": "PROMOTE",
        "staged_id": resolved.staged_id,
        "reason": resolved.reason,
    }


def _closed(judged: Judged, ledger: Ledger, name: str) -> Iterator[Entry]:
    if not (judged.decision.closes or judged.decision.corrects) or judged.fact_id is None:
        return
    fact = ledger.fact(judged.fact_id)
    old = ledger.fact(fact.supersedes) if fact is not None and fact.supersedes else None
    if old is None:
        return
    yield {
        "id": _native(old, ledger, name),
        "memory": readable(old.text, old.entity),
        "event": "CORRECT" if judged.decision.corrects else "SUPERSEDE",
        "reason": judged.decision.reason,
    }


def _withdrawn(found_id: str, ledger: Ledger, name: str) -> Entry:
    """What the turn took back ("ignore my last message")."""
    fact, item = ledger.fact(found_id), ledger.staged_item(found_id)
    held = PLAN + readable(item.text, item.entity) if item is not None else ""
    return {
        "id": _native(fact, ledger, name) if fact is not None else found_id,
        "memory": readable(fact.text, fact.entity) if fact is not None else held,
        "event": "REVOKE",
        "reason": "taken back by the user",
    }


def _native(fact: Fact, ledger: Ledger, name: str) -> str:
    links = ledger.links(name, fact_id=fact.fact_id)
    return links[0].native_id if links else promoted_id(name, fact)
