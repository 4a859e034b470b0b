"""Field matching by names alone: exact, synonym, plan-frame retry, overlap of words.

Cheap and certain. What it declines, a model-based matcher may still find; what it finds it
explains in `FieldMatch.via`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from memgate_core.fields.normalise import normalise, tokens, without_plan_frame
from memgate_core.language.lexicon import noun_lemma
from memgate_core.model import USER_ENTITY, Candidate, FieldMatch, FieldSpec

NOWHERE = FieldMatch(field=None, confidence=0.0, via="none")


class LexicalMatcher:
    """A `FieldMatcher` that compares names (paper section 3; retry: section 4)."""

    name = "lexical-1"

    def __init__(self, *, plan_frame_retry: bool = True) -> None:
        self._retry = plan_frame_retry

    def match(
        self, candidates: Sequence[Candidate], fields: Sequence[FieldSpec]
    ) -> list[FieldMatch]:
        """One match a candidate, in order."""
        names = _index(tuple(fields))
        return [self._match(candidate, names) for candidate in candidates]

    def _match(self, candidate: Candidate, names: dict[str, tuple[FieldSpec, str]]) -> FieldMatch:
        if candidate.attribute is None or candidate.entity != USER_ENTITY:
            return NOWHERE
        if (found := _look_up(candidate.attribute, names)) is not None:
            return found
        bare = without_plan_frame(candidate.attribute) if self._retry else None
        again = _look_up(bare, names) if bare else None
        if again is None:
            return NOWHERE
        return again.model_copy(update={"via": "plan_frame", "confidence": 0.9})


def _look_up(attribute: str, names: dict[str, tuple[FieldSpec, str]]) -> FieldMatch | None:
    hit = names.get(_stemmed(attribute))
    if hit is None:
        return None
    field, via = hit
    return FieldMatch(field=field, confidence=1.0 if via == "exact" else 0.95, via=via)


@lru_cache(maxsize=64)
def _index(fields: tuple[FieldSpec, ...]) -> dict[str, tuple[FieldSpec, str]]:
    """Every name a field goes by; an attribute's own name wins over another field's synonym."""
    names: dict[str, tuple[FieldSpec, str]] = {}
    for field in fields:
        for name in _synonyms(field):
            names.setdefault(_stemmed(name), (field, "synonym"))
    for field in fields:
        names[_stemmed(field.attribute)] = (field, "exact")
    return names


def _synonyms(field: FieldSpec) -> Iterable[str]:
    yield from field.synonyms
    words = tokens(field.attribute)
    if len(words) == 2 and words[0] in ("home", "current", "main", "default", "preferred"):
        yield words[1]


@lru_cache(maxsize=8192)
def _stemmed(attribute: str) -> str:
    return "_".join(noun_lemma(word) for word in normalise(attribute).split("_"))
