"""Gathers the records, sets the test part aside, and lays out what each run teaches."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from evaluation.plans.source import conversations
from evaluation.training.admission import Admission, admissions
from evaluation.training.chats import chats, thinned
from evaluation.training.fit import Course
from evaluation.training.pairs import Conversation, Pairing, pairings
from evaluation.training.plan_claims import plan_claims
from evaluation.training.plan_turns import plan_later_turns, plan_statements
from evaluation.training.resolutions import LaterTurn, later_turns
from evaluation.training.samples import (
    Sample,
    claim_samples,
    fit_samples,
    foreign_claims,
    held_claims,
    resolution_samples,
    statement_samples,
    strangers,
)
from evaluation.training.source import DATA, for_test, plan_files
from evaluation.training.statements import Labelled, from_jsonl, natural
from memgate_core.judgement.inputs import Budget, Encoded, Layout

SOURCE_WEIGHTS = {"natural": 1.0, "hard": 0.5, "plan": 0.7, "chat": 1.5}


class _Unit(Protocol):
    @property
    def unit(self) -> str: ...


_T = TypeVar("_T", bound=_Unit)
_R = TypeVar("_R")


@dataclass(frozen=True)
class Part:
    """Records of one side: what is trained on, or what is kept for testing."""

    statements: list[Labelled]
    later: list[LaterTurn]
    admissions: list[Admission]
    pairs: list[Pairing]


def gather(extra: Iterable[Labelled] = ()) -> tuple[Part, Part]:
    """Everything there is, as (training, test); conversations and blocks are never split.

    Raises:
        InvalidRecordError: a file outside its grammar.
    """
    plans = [c for path in plan_files("train_*.txt") for c in conversations(path)]
    statements = [*natural(), *chats(), *extra]
    statements += from_jsonl(DATA / "statements" / "hard.jsonl", "hard")
    statements += _each(plan_statements, plans)
    later = [*later_turns(), *_each(plan_later_turns, plans)]
    pairs = _each(pairings, plans)
    admitted = [*admissions(), *_each(plan_claims, plans)]
    return (
        Part(_part(statements, 0), _held(later, 0), _part(admitted, 0), _part(pairs, 0)),
        Part(_part(statements, 1), _held(later, 1), _part(admitted, 1), _part(pairs, 1)),
    )


def statement_course(part: Part, layout: Layout, budget: Budget) -> Course:
    """What the statement encoder learns."""
    taught = taught_statements(part)
    return Course({"statement": statement_samples(taught, layout, budget, SOURCE_WEIGHTS)})


def taught_statements(part: Part) -> list[Labelled]:
    """All that was written, and the chats thinned."""
    written = [item for item in part.statements if item.source != "chat"]
    return written + thinned([item for item in part.statements if item.source == "chat"])


def claim_course(part: Part, layout: Layout, seed: int) -> Course:
    """What the encoder of fields, values and held items learns."""
    rng = random.Random(seed)
    resolutions = resolution_samples(part.later, layout, rng)
    resolutions += strangers(part.later, layout, rng, len(part.later) // 6)
    claims = [*claim_samples(part.admissions, layout)]
    claims += foreign_claims(part.admissions, layout, rng, len(part.admissions) // 5)
    claims += held_claims(part.later, layout)
    samples: dict[str, list[Sample]] = {"resolution": resolutions, "claim": claims}
    if part.pairs:
        samples["fit"] = fit_samples([*part.pairs, *_crossed(part.pairs, rng)], layout)
    return Course(samples, vector_pairs(part, layout))


def vector_pairs(part: Part, layout: Layout) -> list[tuple[Encoded, Encoded]]:
    """Rows that belong together: a field and its candidates, a field and the turns about it."""
    fillers = [
        (layout.slot(p.field), layout.filler(p.attribute, p.value, p.text))
        for p in part.pairs
        if p.same
    ]
    turns = [(layout.slot(a.field), layout.utterance(a.text)) for a in part.admissions]
    held = [
        (layout.filler(i.item.attribute, i.item.value, i.item.text), layout.utterance(i.turn))
        for i in part.later
        if i.kind != "u"
    ]
    return fillers + turns + held


def _crossed(pairs: Sequence[Pairing], rng: random.Random) -> list[Pairing]:
    """Candidates against the fields of other conversations."""
    crossed = []
    for _ in range(len(pairs)):
        one, other = rng.choice(pairs), rng.choice(pairs)
        if one.field.attribute != other.field.attribute:
            crossed.append(
                Pairing(
                    one.unit, other.field, one.entity, one.attribute, one.value, one.text, False
                )
            )
    return crossed


def _each(make: Callable[[Conversation], Iterable[_R]], plans: Sequence[Conversation]) -> list[_R]:
    return [record for plan in plans for record in make(plan)]


def _part(records: Sequence[_T], test: int) -> list[_T]:
    return [record for record in records if for_test(record.unit) is bool(test)]


def _held(records: Sequence[LaterTurn], test: int) -> list[LaterTurn]:
    return [record for record in records if for_test(record.item.unit) is bool(test)]
