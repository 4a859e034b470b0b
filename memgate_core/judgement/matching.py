"""Finds the registered slot of a candidate among many: names, then vectors, then a pair check.

The paper loses most plans at this step: cautious extractors name attributes after the plan or the
interest ("conditional_bag_interest"), which no rule on names brings back. Here what the names do
not settle is settled by meaning, among all registered fields at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from memgate_core.judgement.calibration import Calibration
from memgate_core.judgement.claims import GRAPH, threshold
from memgate_core.judgement.encoder import Encoders
from memgate_core.judgement.protocol import FieldMatcher
from memgate_core.judgement.shared import shared_encoders, shared_vectors
from memgate_core.judgement.vectors import VectorStore, nearest
from memgate_core.model import USER_ENTITY, Candidate, FieldMatch, FieldSpec

_PAIRED = 4
"""Fields that get a pair check for one candidate."""
_BY_NAME = frozenset({"exact", "synonym", "plan_frame"})


class LocalMatcher:
    """Matches candidates to fields by name, or else by meaning.

    Implements `FieldMatcher`. `names` is the matcher on names that is asked first (default: the
    lexical one of the fields room). Thread-safe; field vectors are computed once.
    """

    name = "local/1"

    def __init__(self, names: FieldMatcher | None = None, encoders: Encoders | None = None) -> None:
        self._given = names
        self._encoders = encoders or shared_encoders()
        self._vectors = VectorStore(encoders) if encoders else shared_vectors()

    def match(
        self, candidates: Sequence[Candidate], fields: Sequence[FieldSpec]
    ) -> list[FieldMatch]:
        """One match a candidate, in order; `via` says how: exact, synonym, plan_frame, model.

        Raises:
            ConfigurationError: the weights are not installed completely.
        """
        if not candidates or not fields:
            return [FieldMatch(field=None, confidence=1.0) for _ in candidates]
        matches = self._names.match(candidates, fields)
        doubtful = [at for at, match in enumerate(matches) if not _settled(candidates[at], match)]
        for at, match in zip(
            doubtful, self._by_meaning([candidates[at] for at in doubtful], fields), strict=True
        ):
            matches[at] = match
        return _without_rivals(matches)

    @cached_property
    def _names(self) -> FieldMatcher:
        if self._given is not None:
            return self._given
        from memgate_core.fields.lexical import LexicalMatcher

        return LexicalMatcher()

    def _by_meaning(
        self, candidates: Sequence[Candidate], fields: Sequence[FieldSpec]
    ) -> list[FieldMatch]:
        if not candidates:
            return []
        layout = self._encoders.layout
        slots = self._vectors.slots(fields)
        fillers = self._vectors.of([layout.filler(*_filler(c)) for c in candidates])
        near = [nearest(slots @ filler, _PAIRED) for filler in fillers]
        rows = [
            layout.fit(fields[at], *_filler(candidate))
            for candidate, places in zip(candidates, near, strict=True)
            for at in places
        ]
        logits = self._encoders.run(GRAPH, rows, ["fit"])["fit"]
        fits = iter(float(p) for p in self._calibration.probabilities(logits)[:, 1])
        return [self._best(fields, [(next(fits), at) for at in places]) for places in near]

    def _best(self, fields: Sequence[FieldSpec], fits: list[tuple[float, int]]) -> FieldMatch:
        fit, at = max(fits)
        if fit < threshold(self._encoders, "fit"):
            return FieldMatch(field=None, confidence=1.0 - fit)
        return FieldMatch(field=fields[at], confidence=fit, via="model")

    @cached_property
    def _calibration(self) -> Calibration:
        return Calibration.from_card(self._encoders.card[GRAPH]["calibration"]["fit"])


def _without_rivals(matches: Sequence[FieldMatch]) -> list[FieldMatch]:
    """The matches of a turn, with at most one by meaning for a field, and none where another
    candidate bears the field's name: a turn says a single-valued slot once, and what else it says
    is near it only because it is about the same thing ("moths" in "the piano's problem")."""
    named = {m.field.attribute for m in matches if m.field and m.via in _BY_NAME}
    best: dict[str, float] = {}
    for match in matches:
        if match.field is not None and match.via not in _BY_NAME:
            attribute = match.field.attribute
            best[attribute] = max(match.confidence, best.get(attribute, 0.0))
    return [
        match
        if match.field is None
        or match.via in _BY_NAME
        or (match.field.attribute not in named and match.confidence >= best[match.field.attribute])
        else FieldMatch(field=None, confidence=match.confidence)
        for match in matches
    ]


def _settled(candidate: Candidate, match: FieldMatch) -> bool:
    """Names settle it for the user's own facts; a friend's employer has the same name as mine."""
    return match.field is not None and match.via in _BY_NAME and candidate.entity == USER_ENTITY


def _filler(candidate: Candidate) -> tuple[str | None, str | None, str]:
    """Attribute, value and text, with the entity in front where it is not the user."""
    return owned(candidate.entity, candidate.attribute), candidate.value, candidate.text


def owned(entity: str, attribute: str | None) -> str | None:
    """The attribute as it reads for its entity: "employer", or "shona's employer"."""
    if entity == USER_ENTITY or attribute is None:
        return attribute
    return f"{entity}'s {attribute}"
