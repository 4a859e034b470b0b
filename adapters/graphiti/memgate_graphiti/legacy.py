"""Edges that Graphiti stored before the gate, and that a new fact ends.

The ledger knows nothing of them. One is closed only when it is sure: it starts at the same person,
its relation is called as the field is, and its text asserts another value of that field. Whatever
is not sure stays, beside the new fact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from memgate_core.model import Fact, FieldSpec, Subject
from memgate_graphiti.graph import Edge

Asserted = Callable[[Subject, str], Iterable[tuple[str, str]]]
"""(attribute, value) of every field that a text asserts of a subject: `MemoryGate.asserted`."""

MOST = 40
"""Edges of one person that are read for one new fact."""


def relations_of(fact: Fact, relation: str, fields: Sequence[FieldSpec]) -> frozenset[str]:
    """What an edge of the same field may be called."""
    spec = next((f for f in fields if f.attribute == fact.attribute), None)
    names = [relation, *([spec.attribute, *spec.synonyms] if spec is not None else [])]
    return frozenset(name.upper() for name in names)


def ended_by(
    fact: Fact, subject: Subject, edges: Sequence[Edge], names: Sequence[str], asserted: Asserted
) -> list[Edge]:
    """Those of `edges` that say another value of the fact's field."""
    return [
        edge
        for edge in edges[:MOST]
        if _says_another(asserted(subject, _first_person(edge.fact, names)), fact)
    ]


def _says_another(read: Iterable[tuple[str, str]], fact: Fact) -> bool:
    from memgate_core.fields.values import same_value

    values = [value for attribute, value in read if attribute == fact.attribute]
    return bool(values) and not any(same_value(value, fact.value or "") for value in values)


def _first_person(text: str, names: Sequence[str]) -> str:
    """An edge's sentence as the person would say it, for judges that read what people say."""
    for name in sorted(names, key=len, reverse=True):
        if text.casefold().startswith(f"{name.casefold()} "):
            verb, _, rest = text[len(name) + 1 :].partition(" ")
            return f"I {_FIRST.get(verb, verb.removesuffix('s'))} {rest}".strip()
    return text


_FIRST = {"is": "am", "has": "have", "does": "do", "goes": "go", "was": "was", "studies": "study"}
