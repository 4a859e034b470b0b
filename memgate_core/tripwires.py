"""What throws the commit switch by itself: found in what was written, not in what was refused.

Screening and scopes keep these things out beforehand. Here the outcome is looked at again, from the
other end: what a framework says that it stored, and what is still found after a revocation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from memgate_core import telemetry
from memgate_core.commit_switch import trip
from memgate_core.ledger.protocol import Ledger
from memgate_core.model import Event, EventType, NativeLink, Subject
from memgate_core.tallies import DUPLICATES, RESIDUE

if TYPE_CHECKING:
    from memgate_core.screening.screener import Screener

_WRITES = (EventType.PROMOTED, EventType.COMMITTED)


def crossings(ledger: Ledger, subject: Subject, links: Iterable[NativeLink]) -> list[NativeLink]:
    """Links by which a native object would carry facts or plans of another subject too."""
    return [link for link in links if _crosses(ledger, subject, link)]


def trip_on_crossing(ledger: Ledger, subject: Subject, links: Sequence[NativeLink]) -> bool:
    """Stops commits when a native write landed in another subject's object."""
    found = crossings(ledger, subject, links)
    if found:
        where = ", ".join(f"{link.projection} object {link.native_id}" for link in found)
        trip(ledger, f"cross-tenant write: {where} carries another subject's facts")
    return bool(found)


def trip_on_secret(ledger: Ledger, screener: Screener, links: Iterable[NativeLink]) -> bool:
    """Stops commits when a framework reports a stored text that holds a secret."""
    found = [link for link in links if link.text and screener.secret_in(link.text)]
    if found:
        where = ", ".join(f"{link.projection} object {link.native_id}" for link in found)
        trip(ledger, f"secret ingested: {where}")
    return bool(found)


def trip_on_residue(ledger: Ledger, projection: str, places: Sequence[str]) -> bool:
    """Stops commits when something revoked can still be read in a framework."""
    if places:
        version = _version(ledger)
        ledger.count(RESIDUE, version, len(places))
        telemetry.counted(RESIDUE, version, len(places))
        trip(ledger, f"revocation residue in {projection}: {'; '.join(places[:5])}")
    return bool(places)


def count_duplicates(ledger: Ledger, event: Event, links: Sequence[NativeLink]) -> int:
    """Counts native objects beyond the first that one version of a fact was written into."""
    fact = event.fact
    if fact is None or not links or event.event_type not in _WRITES or _holds_again(event):
        return 0
    new = {link.native_id for link in links if fact.fact_id in link.fact_ids}
    messages = {link.message_id for link in links}
    before = {
        link.native_id
        for link in ledger.links(links[0].projection, fact_id=fact.fact_id)
        if link.message_id in messages
    }
    extra = max(0, len(new | before) - 1) if new else 0
    if extra:
        ledger.count(DUPLICATES, event.policy_version, extra)
        telemetry.counted(DUPLICATES, event.policy_version, extra)
    return extra


def _holds_again(event: Event) -> bool:
    return event.event_type is EventType.PROMOTED and event.staged is None


def _version(ledger: Ledger) -> str:
    state = ledger.rollout()
    return state.policy_version if state is not None else ""


def _crosses(ledger: Ledger, subject: Subject, link: NativeLink) -> bool:
    before = ledger.links(link.projection, native_id=link.native_id)
    carried = [link, *before]
    facts = {fact_id for one in carried for fact_id in one.fact_ids}
    items = {staged_id for one in carried for staged_id in one.staged_ids}
    owners = [fact.key.subject for f in facts if (fact := ledger.fact(f)) is not None]
    owners += [item.key.subject for i in items if (item := ledger.staged_item(i)) is not None]
    return any(owner != subject for owner in owners)
