"""The judging backends by name: `local`, `decision`, `llm`, `cascade`. All have the same shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from memgate_core.errors import ConfigurationError
from memgate_core.judgement.protocol import (
    EvidenceClassifier,
    FieldMatcher,
    FieldReader,
    Foresight,
    OwnWords,
    Proposer,
    Realiser,
    ResolutionChecker,
    StandingJudge,
)
from memgate_core.resolution.realise import LocalRealiser

if TYPE_CHECKING:
    from memgate_core.judgement.budget import Budget
    from memgate_core.judgement.cascade import Sureness
    from memgate_core.judgement.counsel import Oracle
    from memgate_core.judgement.options import ModelOptions


@dataclass(frozen=True)
class Judges:
    """One backend's judges."""

    classifier: EvidenceClassifier
    matcher: FieldMatcher
    standing: StandingJudge
    checker: ResolutionChecker
    reader: FieldReader | None
    realiser: Realiser
    foresight: Foresight | None = None
    """Asks a model everything about a turn at once, where the backend has one."""
    proposer: Proposer | None = None
    own_words: OwnWords | None = None
    """Finds what the user called a value that an extractor reworded."""


def local() -> Judges:
    """No network, no language model (the default)."""
    from memgate_core.fields.phrases import PhraseReader
    from memgate_core.judgement.local import LocalClassifier
    from memgate_core.judgement.matching import LocalMatcher
    from memgate_core.judgement.own_words import LocalOwnWords
    from memgate_core.judgement.readers import FirstOf
    from memgate_core.judgement.reading import LocalFieldReader
    from memgate_core.judgement.standing import LocalStandingJudge
    from memgate_core.resolution.checker import LocalChecker

    return Judges(
        classifier=LocalClassifier(),
        matcher=LocalMatcher(),
        standing=LocalStandingJudge(),
        checker=LocalChecker(),
        reader=FirstOf(PhraseReader(), LocalFieldReader()),
        own_words=LocalOwnWords(),
        realiser=LocalRealiser(),
    )


def judges_of(name: str, model: Any, options: ModelOptions | Mapping[str, Any] | None) -> Judges:
    """The judges of a backend.

    Raises:
        ConfigurationError: an unknown backend or option, no model for one that needs it, a model
            for one that has none, or a model of the wrong kind.
    """
    if name == "local":
        if model is not None:
            raise ConfigurationError(
                "a model is given, but the local backend asks none",
                hint="classifier='cascade' asks it about doubtful statements, 'llm' about all",
            )
        return local()
    if name not in _MODEL_BACKENDS:
        known = ", ".join(sorted([*_MODEL_BACKENDS, "local"]))
        raise ConfigurationError(f"classifier {name!r} is unknown", hint=f"one of {known}")
    if model is None:
        raise ConfigurationError(f"classifier {name!r} needs a model", hint="pass model=…")
    return _MODEL_BACKENDS[name](model, _options(options))


def _llm(model: Any, options: ModelOptions) -> Judges:
    return _asked(_llm_oracle(model, options), None, model, options)


def _decision(model: Any, options: ModelOptions) -> Judges:
    return _asked(_decision_oracle(model), None, model, options)


def _cascade(model: Any, options: ModelOptions) -> Judges:
    decides = any(c.__name__ == "BaseDecisionModel" for c in type(model).__mro__)
    oracle = _decision_oracle(model) if decides else _llm_oracle(model, options)
    return _asked(oracle, options.sureness, model, options)


_MODEL_BACKENDS: dict[str, Callable[[Any, ModelOptions], Judges]] = {
    "llm": _llm,
    "decision": _decision,
    "cascade": _cascade,
}


def _asked(oracle: Oracle, sure: Sureness | None, model: Any, options: ModelOptions) -> Judges:
    from memgate_core.judgement.asked import AskedClassifier, AskedMatcher, AskedStandingJudge
    from memgate_core.judgement.budget import Budget
    from memgate_core.judgement.cache import AnswerCache
    from memgate_core.judgement.counsel import Counsel
    from memgate_core.judgement.together import AskedTogether
    from memgate_core.resolution.asked import AskedChecker
    from memgate_core.resolution.conditions import AskedRealiser

    own = local()
    budget = Budget(per_turn=options.calls_per_turn, per_minute=options.calls_per_minute)
    counsel = Counsel(
        oracle, budget=budget, cache=AnswerCache(options.cache), timeout=options.timeout
    )
    classifier = AskedClassifier(own.classifier, counsel, sure)
    matcher = AskedMatcher(own.matcher, counsel, sure)
    standing = AskedStandingJudge(own.standing, counsel, sure)
    checker = AskedChecker(own.checker, counsel, sure)
    return Judges(
        classifier=classifier,
        matcher=matcher,
        standing=standing,
        checker=checker,
        reader=own.reader,
        own_words=own.own_words,
        realiser=AskedRealiser(own.realiser),
        foresight=AskedTogether(
            classifier, matcher, standing, checker.rows, counsel, asks_all=sure is None
        ),
        proposer=_proposer(model, options, budget),
    )


def _llm_oracle(model: Any, options: ModelOptions) -> Oracle:
    from memgate_core.judgement.llm import LlmOracle
    from memgate_core.judgement.ports.recognise import port_to

    return LlmOracle(port_to(model, name=options.name, api_key=options.api_key))


def _decision_oracle(model: Any) -> Oracle:
    from memgate_core.judgement.decision import DecisionOracle

    return DecisionOracle(model)


def _proposer(model: Any, options: ModelOptions, budget: Budget) -> Proposer | None:
    if options.extraction == "local":
        return None
    from memgate_core.judgement.ports.recognise import port_to
    from memgate_core.judgement.proposer import LlmProposer

    port = port_to(model, name=options.name, api_key=options.api_key)
    return LlmProposer(port, style=options.extraction, budget=budget, timeout=options.timeout)


def _options(given: ModelOptions | Mapping[str, Any] | None) -> ModelOptions:
    from memgate_core.judgement.options import ModelOptions

    if isinstance(given, ModelOptions):
        return given
    try:
        return ModelOptions.model_validate(dict(given or {}))
    except ValidationError as fault:
        first = fault.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ConfigurationError(f"model_options.{where}: {first['msg']}") from None
