"""What must hold of a ledger at any moment, and of ledger and store once all is delivered."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from memgate_core.fields.values import same_value
from memgate_core.ledger.protocol import Ledger
from memgate_core.model import Fact, FactStatus, FieldKey, StagedItem, StagedStatus, Subject
from memgate_core.profile import Profile

_HELD_ONCE = (FactStatus.CURRENT, FactStatus.SUPERSEDED)


def always(ledger: Ledger, subject: Subject) -> Iterator[str]:
    """Breaches of what must hold of one subject at any moment, in words."""
    readable = Profile(ledger, subject).facts()
    every = ledger.facts(subject, include_closed=True, include_pending_native=True)
    held = ledger.staged(subject)
    yield from _one_current_value(every)
    yield from _no_overlap(every)
    for fact in readable:
        if not fact.native:
            yield f"{fact.fact_id} is readable before its native write"
    for item in held:
        yield from _held_value_readable(item, readable)


def delivered(
    ledger: Ledger, subjects: Sequence[Subject], store: Mapping[str, tuple[str, str]]
) -> Iterator[str]:
    """Breaches between ledger and store after everything was delivered."""
    current, held = set[str](), set[str]()
    for subject in subjects:
        current |= {fact.fact_id for fact in ledger.facts(subject)}
        held |= {item.staged_id for item in ledger.staged(subject)}
    stored = {found for found, (kind, _) in store.items() if kind == "current"}
    staged = {found for found, (kind, _) in store.items() if kind == "staged"}
    yield from (f"{found} is current but not in the store" for found in current - stored)
    yield from (f"{found} is in the store but not current" for found in stored - current)
    yield from (f"{found} is held but not in the store's staging" for found in held - staged)
    yield from (f"{found} is in the store's staging but not held" for found in staged - held)


def nothing_lost(ledger: Ledger, folder: Path, tenant: str) -> Iterator[str]:
    """Turns that were acknowledged to a caller and are not recorded."""
    for file in sorted(folder.glob("acknowledged-*.txt")):
        for line in file.read_text(encoding="utf-8").splitlines():
            user, _, message_id = line.partition("\t")
            # a worker that was killed may have left half a line
            if message_id and ledger.turn(Subject(tenant=tenant, user_id=user), message_id) is None:
                yield f"{file.name}: {user}'s {message_id} was acknowledged and is not recorded"


def acknowledged(folder: Path) -> int:
    """How many turns were acknowledged so far."""
    files = folder.glob("acknowledged-*.txt")
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)


def _one_current_value(facts: Sequence[Fact]) -> Iterator[str]:
    counts: dict[FieldKey, int] = defaultdict(int)
    for fact in facts:
        counts[fact.key] += fact.status is FactStatus.CURRENT
    yield from (f"{key} has {count} current values" for key, count in counts.items() if count > 1)


def _no_overlap(facts: Sequence[Fact]) -> Iterator[str]:
    by_key: dict[FieldKey, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.status in _HELD_ONCE:
            by_key[fact.key].append(fact)
    for key, held in by_key.items():
        ordered = sorted(held, key=lambda one: (one.valid_from, one.version))
        for before, after in pairwise(ordered):
            if before.valid_to is None or before.valid_to > after.valid_from:
                yield f"{key}: {_told(before)} and {_told(after)} overlap"


def _told(fact: Fact) -> str:
    ends = fact.valid_to.isoformat() if fact.valid_to else "now"
    return (
        f"{fact.fact_id} v{fact.version} {fact.status} {fact.valid_from.isoformat()} to {ends}"
        f" ({fact.words!r}, supersedes {fact.supersedes})"
    )


def _held_value_readable(item: StagedItem, readable: Sequence[Fact]) -> Iterator[str]:
    """A pending plan for a field whose value is that field's current one would be contamination."""
    if item.attribute is None or item.value is None or item.status is not StagedStatus.PENDING:
        return
    for fact in readable:
        rests_on_it = item.staged_id in fact.derived_from or item.proposal_id in fact.derived_from
        same = (
            fact.key == item.key and fact.value is not None and same_value(fact.value, item.value)
        )
        if rests_on_it or (same and fact.evidence == item.evidence):
            yield f"{item.staged_id} is held and readable as {fact.fact_id}"
