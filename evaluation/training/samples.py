"""Turns the hand-written records into rows for the encoders, with what they should say."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from evaluation.training.admission import Admission
from evaluation.training.pairs import Pairing
from evaluation.training.resolutions import LaterTurn
from evaluation.training.statements import Labelled
from memgate_core.judgement.inputs import Budget, Encoded, Layout
from memgate_core.judgement.verdicts import CLAIM_VERDICTS, EVIDENCE_ORDER, RESOLUTION_ORDER
from memgate_core.model import FieldSpec, HistoryTurn, ResolutionType, Role, Span
from memgate_core.resolution.named import names

_STANDING_OF = {
    "others_facts": "other_person",
    "temporary": "temporary",
    "quoted": "quoted",
    "sarcasm": "non_literal",
    "past_state": "past",
    "negation": "negated",
    "retraction": "retraction",
    "assistant_inference": "negated",
}

_UNREGISTERED = 0.3
"""Share of held items taught without what is true of their field now."""

UNASSERTED = tuple(range(CLAIM_VERDICTS.index("hold") + 1, len(CLAIM_VERDICTS)))
"""The verdicts under which a value does not stand."""


@dataclass(frozen=True)
class Sample:
    """One row with its target class, its weight in the loss, and for readers the value's tokens."""

    row: Encoded
    target: int
    weight: float = 1.0
    span: tuple[int, int] | None = None
    also: tuple[int, ...] = ()
    """Classes that would be as right as the target."""
    named: bool = False
    """Of a later turn: whether it says the value that is held."""


def statement_samples(
    items: Iterable[Labelled], layout: Layout, budget: Budget, weights: dict[str, float]
) -> list[Sample]:
    """One sample a statement, weighted by where it comes from."""
    return [
        Sample(
            layout.statement(item.statement, budget),
            EVIDENCE_ORDER.index(item.label),
            weights.get(item.source, 1.0),
        )
        for item in items
    ]


def resolution_samples(
    items: Iterable[LaterTurn], layout: Layout, rng: random.Random | None
) -> list[Sample]:
    """One sample a later turn. With `rng`, the held text is varied, since a gate's own realised
    text is plainer than a writer's."""
    return [
        Sample(
            layout.resolution(
                item.item.attribute,
                _held_text(item, rng),
                item.item.words,
                item.turn,
                item.asked,
                _known(item, rng),
            ),
            RESOLUTION_ORDER.index(item.resolution),
            named=names(item.turn, item.item.value),
        )
        for item in items
    ]


def _held_text(item: LaterTurn, rng: random.Random | None) -> str:
    held = item.item
    plain = f"{held.attribute.replace('_', ' ')} is {held.value}"
    if rng is None:
        return held.text
    return rng.choices((held.text, plain, held.value), (0.7, 0.2, 0.1))[0]


def _known(item: LaterTurn, rng: random.Random | None) -> str | None:
    """What is true of the field now; a gate knows it of registered fields only."""
    return None if rng is not None and rng.random() < _UNREGISTERED else item.item.known


def strangers(
    items: Sequence[LaterTurn], layout: Layout, rng: random.Random, count: int
) -> list[Sample]:
    """Held items against turns that were written for other items: they settle nothing."""
    nothing = RESOLUTION_ORDER.index(_nothing())
    samples = []
    for _ in range(count):
        item, other = rng.choice(items), rng.choice(items)
        if item.item.attribute != other.item.attribute:
            row = layout.resolution(
                item.item.attribute,
                item.item.text,
                item.item.words,
                other.turn,
                other.asked,
                _known(item, rng),
            )
            samples.append(Sample(row, nothing))
    return samples


def _nothing() -> object:
    return RESOLUTION_ORDER[-1]


def verdict_of(item: Admission) -> str:
    """The claim head's class for a hand-written turn."""
    if item.decision in ("commit", "correct", "hold"):
        return item.decision
    return _STANDING_OF.get(item.category, "unsupported")


def claim_samples(items: Iterable[Admission], layout: Layout) -> Iterator[Sample]:
    """A sample where the value has to be read; for every other turn, one with it proposed."""
    for number, item in enumerate(items):
        target = CLAIM_VERDICTS.index(verdict_of(item))
        also = UNASSERTED if item.category == "unsaid" else ()
        if number % 2 or place_of(item.value, item.text) is None:
            marked = place_of(item.value, item.text)
            yield Sample(_claim_row(item, layout, item.value, marked), target, also=also)
        if number % 2 == 0 or place_of(item.value, item.text) is not None:
            row = _claim_row(item, layout, None, None)
            yield Sample(row, target, span=tokens_of(row, item), also=also)


def _claim_row(item: Admission, layout: Layout, value: str | None, marked: Span | None) -> Encoded:
    return layout.claim(item.field, item.known, value, item.text, item.role, item.history, marked)


def foreign_claims(
    items: Sequence[Admission], layout: Layout, rng: random.Random, count: int
) -> Iterator[Sample]:
    """Fields against turns that were written for other fields: nothing is said of them."""
    target = CLAIM_VERDICTS.index("unsupported")
    for _ in range(count):
        item, other = rng.choice(items), rng.choice(items)
        if item.field.attribute != other.field.attribute:
            row = layout.claim(item.field, item.known, None, other.text, other.role, other.history)
            yield Sample(row, target)


def held_claims(items: Iterable[LaterTurn], layout: Layout) -> Iterator[Sample]:
    """Held items as claims on their field, for the turns that name the value.

    What settles nothing may be another's, a trial or a question: any of these is right.
    """
    asserted = {ResolutionType.CONFIRM: "commit", ResolutionType.ABANDON: "negated"}
    for number, item in enumerate(items):
        place = place_of(item.item.value, item.turn)
        if place is None:
            continue
        verdict = asserted.get(item.resolution, "hold" if item.kind == "n" else "unsupported")
        row = layout.claim(
            FieldSpec(attribute=item.item.attribute, description=item.item.description),
            item.item.known,
            item.item.value if number % 2 else None,
            item.turn,
            Role.USER,
            (HistoryTurn(role=Role.ASSISTANT, content=item.asked),) if item.asked else (),
            place if number % 2 else None,
        )
        also = UNASSERTED if verdict in ("negated", "unsupported") else ()
        yield Sample(row, CLAIM_VERDICTS.index(verdict), 0.7, also=also)


def place_of(value: str | None, text: str) -> Span | None:
    """Where the value's words stand in the text, if they do."""
    at = text.lower().find(value.lower()) if value else -1
    return Span(start=at, end=at + len(value or "")) if at >= 0 else None


def tokens_of(row: Encoded, item: Admission) -> tuple[int, int] | None:
    """First and last token of the value in the row, in the turn or else in its history."""
    texts = [(-1, item.text), *enumerate(turn.content for turn in item.history[-2:])]
    for number, text in texts:
        span = place_of(item.value, text)
        if span is None:
            continue
        inside = [
            at
            for at, place in enumerate(row.places)
            if place and place[0] == number and place[1] < span.end and span.start < place[2]
        ]
        if inside:
            return inside[0], inside[-1]
    return None


def fit_samples(items: Iterable[Pairing], layout: Layout) -> list[Sample]:
    """Field and candidate side by side: 1 for the same slot."""
    return [
        Sample(layout.fit(item.field, item.attribute, item.value, item.text), int(item.same))
        for item in items
    ]
