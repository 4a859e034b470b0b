"""The field matchers that pipelines are compared with (paper sections 4 and 6.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from evaluation.plans.setting import MatcherName
from memgate_core.fields.lexical import LexicalMatcher
from memgate_core.judgement.matching import LocalMatcher
from memgate_core.judgement.protocol import FieldMatcher
from memgate_core.model import USER_ENTITY, Candidate, FieldMatch, FieldSpec

_LIKELY_ENOUGH = 0.05
"""The permissive matcher files a declined candidate from this probability of fitting on."""


@cache
def matcher_of(name: MatcherName) -> FieldMatcher:
    """The matcher of that name; one for the process, since they hold vectors."""
    return _MADE[name]()


class PermissiveMatcher:
    """Files what another matcher declined under the one registered field, when at all likely.

    The paper's ablation: it stages more, and hands more to the classifier to get wrong. With more
    than one registered field it changes nothing, since the declined one is not known.
    """

    name = "permissive/1"

    def __init__(self, strict: FieldMatcher) -> None:
        self._strict = strict

    def match(
        self, candidates: Sequence[Candidate], fields: Sequence[FieldSpec]
    ) -> list[FieldMatch]:
        """One match a candidate, in order."""
        matches = self._strict.match(candidates, fields)
        if len(fields) != 1:
            return matches
        return [
            _filed(candidate, match, fields[0])
            for candidate, match in zip(candidates, matches, strict=True)
        ]


def _filed(candidate: Candidate, match: FieldMatch, field: FieldSpec) -> FieldMatch:
    likely = 1.0 - match.confidence
    if match.field is not None or candidate.entity != USER_ENTITY or likely < _LIKELY_ENOUGH:
        return match
    return FieldMatch(field=field, confidence=likely, via="permissive")


_MADE: Mapping[MatcherName, Callable[[], FieldMatcher]] = {
    "full": LocalMatcher,
    "no_retry": lambda: LocalMatcher(names=LexicalMatcher(retry=False)),
    "names": lambda: LexicalMatcher(retry=True),
    "names_no_retry": lambda: LexicalMatcher(retry=False),
    "permissive": lambda: PermissiveMatcher(LocalMatcher()),
}
