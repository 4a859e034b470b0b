"""Gates with model backends. The local judges beside the models are the real ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any

import pytest

from memgate_core import MemoryGate
from tests.backends import small_model
from tests.backends.small_model import SmallModel
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


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallModel]:
    """The one small model of all tests that need a real one."""
    with small_model.running(tmp_path_factory.mktemp("model")) as model:
        yield model
