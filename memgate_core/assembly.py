"""Puts a gate's parts together: the ledger, the judges, the rules. The only place that chooses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from memgate_core.echoes import echoes
from memgate_core.errors import ConfigurationError
from memgate_core.extraction.local import LocalExtractor
from memgate_core.fields.catalogue import FieldCatalogue
from memgate_core.judgement.protocol import (
    EvidenceClassifier,
    FieldMatcher,
    FieldReader,
    Realiser,
    ResolutionChecker,
    StandingJudge,
)
from memgate_core.ledger.open import open_ledger
from memgate_core.ledger.protocol import Ledger
from memgate_core.model import FieldSpec, Span, Turn
from memgate_core.policy.matrix import Matrix, Rule
from memgate_core.resolution.realise import LocalRealiser
from memgate_core.screening.screener import Screener
from memgate_core.weighing import Scales

HOLD_THRESHOLD = 0.35
"""A registered value is not changed by words whose probability of being speculation reaches this
(docs/decisions/0002-rule-matrix.md has the trade-off, measured)."""


@dataclass(frozen=True)
class Parts:
    """What a gate is made of."""

    ledger: Ledger
    extractor: LocalExtractor
    screener: Screener
    scales: Scales
    checker: ResolutionChecker
    realiser: Realiser
    matrix: Matrix
    hold_threshold: float = HOLD_THRESHOLD

    def echoes(self, turn: Turn, statements: Sequence[Span]) -> list[Span]:
        """Statements of an assistant's turn that repeat what is held."""
        return echoes(turn, statements, self.ledger)


@dataclass(frozen=True)
class Judges:
    """One backend's judges."""

    classifier: EvidenceClassifier
    matcher: FieldMatcher
    standing: StandingJudge
    checker: ResolutionChecker
    reader: FieldReader | None


def assemble(
    url: str,
    *,
    fields: FieldCatalogue | Iterable[FieldSpec] | None = None,
    classifier: str | EvidenceClassifier = "local",
    matcher: FieldMatcher | None = None,
    checker: ResolutionChecker | None = None,
    standing: StandingJudge | None = None,
    reader: FieldReader | bool | None = True,
    rules: Sequence[Rule] = (),
    hold_threshold: float = HOLD_THRESHOLD,
    ledger: Ledger | None = None,
) -> Parts:
    """The parts of a gate on the ledger at `url`.

    `fields`: the registered fields (default: the built-in catalogue). `classifier`: "local" or an
    object; likewise the other judges. `reader=False` leaves field values to extractors alone.
    `rules`: rows of your own for the rule matrix, tried before the built-in ones.

    Raises:
        ConfigurationError: an unknown backend, a threshold outside (0, 1], a bad url.
    """
    if not 0.0 < hold_threshold <= 1.0:
        raise ConfigurationError(f"hold_threshold is {hold_threshold}; it must lie in (0, 1]")
    judges = _judges(classifier)
    chosen_reader = judges.reader if reader is True else (reader or None)
    screener = Screener()
    return Parts(
        ledger=ledger if ledger is not None else open_ledger(url),
        extractor=LocalExtractor(),
        screener=screener,
        scales=Scales(
            classifier=judges.classifier,
            matcher=matcher or judges.matcher,
            reader=chosen_reader,
            standing=standing or judges.standing,
            screener=screener,
            fields=_specs(fields),
        ),
        checker=checker or judges.checker,
        realiser=LocalRealiser(),
        matrix=Matrix(rules),
        hold_threshold=hold_threshold,
    )


def _judges(classifier: str | EvidenceClassifier) -> Judges:
    local = _BACKENDS["local"]()
    if not isinstance(classifier, str):
        return Judges(classifier, local.matcher, local.standing, local.checker, local.reader)
    if classifier not in _BACKENDS:
        known = ", ".join(sorted(_BACKENDS))
        raise ConfigurationError(f"classifier {classifier!r} is unknown", hint=f"one of {known}")
    return local if classifier == "local" else _BACKENDS[classifier]()


def _local() -> Judges:
    from memgate_core.judgement.local import LocalClassifier
    from memgate_core.judgement.matching import LocalMatcher
    from memgate_core.judgement.reading import LocalFieldReader
    from memgate_core.judgement.standing import LocalStandingJudge
    from memgate_core.resolution.checker import LocalChecker

    return Judges(
        classifier=LocalClassifier(),
        matcher=LocalMatcher(),
        standing=LocalStandingJudge(),
        checker=LocalChecker(),
        reader=LocalFieldReader(),
    )


_BACKENDS: dict[str, Callable[[], Judges]] = {"local": _local}


def _specs(fields: Any) -> Sequence[FieldSpec]:
    if fields is None:
        return tuple(FieldCatalogue.builtin())
    return tuple(fields)
