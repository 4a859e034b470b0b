"""What a revocation has to reach: the facts and held items that come from something."""

from __future__ import annotations

from collections.abc import Iterable

from memgate_core.ledger import facts, lineage, staging
from memgate_core.ledger.records import Descent
from memgate_core.ledger.runner import Runner
from memgate_core.ledger.scope import Owner


def descent_of(
    runner: Runner, owner: Owner, parents: Iterable[str], message_id: str | None
) -> Descent:
    """The facts and held items that come from any of `parents` or from a message."""
    roots = [*parents, *([lineage.message(message_id)] if message_id is not None else [])]
    found = lineage.descendants(runner, owner, roots)
    written = [facts.get(runner, child) for child in found]
    held = [staging.get(runner, child) for child in found]
    return Descent(
        facts=tuple(fact for fact in written if fact is not None),
        staged=tuple(item for item in held if item is not None),
    )
