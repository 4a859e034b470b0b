"""Puts a gate's parts together: the ledger, the judges, the rules. The only place that chooses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from memgate_core.backends import Judges, judges_of, local
from memgate_core.echoes import echoes
from memgate_core.errors import ConfigurationError
from memgate_core.extraction.local import LocalExtractor
from memgate_core.fields.catalogue import FieldCatalogue
from memgate_core.judgement.protocol import (
    EvidenceClassifier,
    FieldMatcher,
    FieldReader,
    Proposer,
    Realiser,
    ResolutionChecker,
    StandingJudge,
)
from memgate_core.ledger.open import open_ledger
from memgate_core.ledger.protocol import Ledger
from memgate_core.model import FieldSpec, Span, Turn
from memgate_core.policy.approvals import ApprovalPolicy
from memgate_core.policy.matrix import Matrix, Rule
from memgate_core.screening.screener import Screener
from memgate_core.weighing import Scales

if TYPE_CHECKING:
    from memgate_core.judgement.options import ModelOptions

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
    second_line: EvidenceClassifier
    """Judges what a framework's own LLM extracted: one text at a time, so never by a model call."""
    checker: ResolutionChecker
    realiser: Realiser
    matrix: Matrix
    proposer: Proposer | None = None
    hold_threshold: float = HOLD_THRESHOLD
    approvals: ApprovalPolicy = field(default_factory=ApprovalPolicy)
    """What becomes of what only a person can decide."""

    def echoes(self, turn: Turn, statements: Sequence[Span]) -> list[Span]:
        """Statements of an assistant's turn that repeat what is held."""
        return echoes(turn, statements, self.ledger)


def assemble(
    url: str,
    *,
    fields: FieldCatalogue | Iterable[FieldSpec] | None = None,
    classifier: str | EvidenceClassifier = "local",
    model: Any = None,
    model_options: ModelOptions | Mapping[str, Any] | None = None,
    matcher: FieldMatcher | None = None,
    checker: ResolutionChecker | None = None,
    standing: StandingJudge | None = None,
    reader: FieldReader | bool | None = True,
    rules: Sequence[Rule] = (),
    hold_threshold: float = HOLD_THRESHOLD,
    approvals: ApprovalPolicy | None = None,
    ledger: Ledger | None = None,
) -> Parts:
    """The parts of a gate on the ledger at `url`.

    `fields`: the registered fields (default: the built-in catalogue). `classifier`: "local",
    "decision", "llm", "cascade", or an object; likewise the other judges. `model`, for the last
    three: a LangChain decision or chat model, a Mem0 llm, a Graphiti llm_client, or the url of a
    chat completions service; `model_options`: see `ModelOptions`. `reader=False` leaves field
    values to extractors alone.
    `rules`: rows of your own for the rule matrix, tried before the built-in ones. `approvals`: what
    becomes of what only a person can decide (default: it waits).

    Raises:
        ConfigurationError: an unknown backend, a threshold outside (0, 1], a bad url.
    """
    if not 0.0 < hold_threshold <= 1.0:
        raise ConfigurationError(f"hold_threshold is {hold_threshold}; it must lie in (0, 1]")
    judges = _judges(classifier, model, model_options)
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
            foresight=judges.foresight,
            own_words=judges.own_words if chosen_reader is not None else None,
        ),
        second_line=local().classifier if isinstance(classifier, str) else classifier,
        proposer=judges.proposer,
        checker=checker or judges.checker,
        realiser=judges.realiser,
        matrix=Matrix(rules),
        hold_threshold=hold_threshold,
        approvals=approvals if approvals is not None else ApprovalPolicy(),
    )


def _judges(
    classifier: str | EvidenceClassifier,
    model: Any,
    options: ModelOptions | Mapping[str, Any] | None,
) -> Judges:
    if isinstance(classifier, str):
        return judges_of(classifier, model, options)
    return replace(local(), classifier=classifier)


def _specs(fields: Any) -> Sequence[FieldSpec]:
    if fields is None:
        return tuple(FieldCatalogue.default())
    return tuple(fields)
