"""Which facts and held items come from which message, proposal, item or fact.

A row is one step from parent to child (article: derivedFrom). Messages stand under a prefixed
name, since their ids are the frameworks' own.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import bindparam, select

from memgate_core.ledger.runner import Runner, insert_once
from memgate_core.ledger.schema import lineage as g
from memgate_core.ledger.scope import Owner, owned
from memgate_core.model import Fact, StagedItem

_INSERT = insert_once(g)
_CHILDREN = select(g.c.child).where(owned(g), g.c.parent == bindparam("parent"))


def message(message_id: str) -> str:
    """The name that a message has as a parent."""
    return f"message:{message_id}"


def add_fact(runner: Runner, owner: Owner, fact: Fact) -> None:
    """Records what a fact comes from."""
    parents = {fact.proposal_id, message(fact.evidence.message_id), *fact.derived_from}
    _add(runner, owner, parents - {fact.fact_id}, fact.fact_id)


def add_item(runner: Runner, owner: Owner, item: StagedItem) -> None:
    """Records what a held item comes from."""
    parents = {item.proposal_id, message(item.evidence.message_id)}
    _add(runner, owner, parents, item.staged_id)


def descendants(runner: Runner, owner: Owner, parents: Iterable[str]) -> list[str]:
    """Ids of everything that comes from any of `parents`, through any number of steps."""
    found: dict[str, None] = {}
    ahead = list(parents)
    while ahead:
        rows = runner.all(_CHILDREN, {**owner.params, "parent": ahead.pop()})
        fresh = [child for (child,) in rows if child not in found]
        found.update(dict.fromkeys(fresh))
        ahead.extend(fresh)
    return list(found)


def _add(runner: Runner, owner: Owner, parents: Iterable[str], child: str) -> None:
    rows = [{**owner.params, "parent": parent, "child": child} for parent in sorted(parents)]
    runner.many(_INSERT, rows)
