"""Gates with model backends. The local judges beside the models are the real ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any

import pytest

from memgate_core import MemoryGate
from tests.support.talk import Talk

START = datetime(2026, 3, 2, 9, tzinfo=UTC)

OpenTalk = Callable[..., Talk]


@pytest.fixture
def talk_with() -> Iterator[OpenTalk]:
    """Opens a gate on a model and lets ana speak to it."""
    with ExitStack() as stack:

        def opened(model: Any, classifier: str = "llm", **options: Any) -> Talk:
            gate = MemoryGate.open("sqlite://", classifier=classifier, model=model, **options)
            return Talk(stack.enter_context(gate), "ana", START)

        yield opened
