"""Runs conversations of a file through one pipeline, one at a time, and yields the trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from evaluation.jsonl import read
from evaluation.plans.baselines import BaselinePipeline
from evaluation.plans.format import Conversation
from evaluation.plans.gated import GatedPipeline
from evaluation.plans.pipeline import Pipeline, follow
from evaluation.plans.setting import Setting
from evaluation.plans.trace import FinalTrace, TurnTrace
from memgate_core.errors import ConfigurationError, InvalidRecordError
from memgate_core.ledger.protocol import Ledger

_LABELS = ("kind", "outcome", "final_value")


def pipeline_for(
    conversation: Conversation, setting: Setting, ledger: Ledger | None = None
) -> Pipeline:
    """The pipeline of a setting, for one conversation.

    Raises:
        ConfigurationError: a memory framework that is not installed, or asked for with a baseline
            that has none.
    """
    if setting.memory != "none":
        if setting.gate == "plan-typed":
            raise ConfigurationError("the plan-typed baseline has no framework behind it")
        from evaluation.memories.pipeline import memory_pipeline

        return memory_pipeline(conversation, setting, ledger)
    if setting.gate == "on":
        return GatedPipeline(conversation, setting, ledger)
    return BaselinePipeline(conversation, setting)


def traced(
    path: Path,
    setting: Setting,
    *,
    ledger: Ledger | None = None,
    consumed: Callable[[int], None] | None = None,
) -> Iterator[TurnTrace | FinalTrace]:
    """The trace of a whole file, streaming: one conversation is in memory at a time.

    Raises:
        InvalidRecordError: a malformed line, after everything before it was yielded.
    """
    for _, conversation in read(path, Conversation, consumed=consumed):
        yield from follow(conversation, pipeline_for(conversation, setting, ledger))


def labelled(
    path: Path, *, consumed: Callable[[int], None] | None = None
) -> Iterator[Conversation]:
    """Conversations that can be scored.

    Raises:
        InvalidRecordError: malformed, or without the labels that scoring needs.
    """
    for number, conversation in read(path, Conversation, consumed=consumed):
        for key in _LABELS:
            if getattr(conversation, key) is None:
                raise InvalidRecordError(path, number, key, "is missing: needed for scoring")
        yield conversation


@contextmanager
def opened(url: str | None) -> Iterator[Ledger | None]:
    """A ledger that all conversations share, or None: then each has its own, in memory."""
    if url is None:
        yield None
        return
    from memgate_core.ledger.open import open_ledger

    ledger = open_ledger(url)
    try:
        yield ledger
    finally:
        ledger.close()
