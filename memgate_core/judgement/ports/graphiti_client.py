"""A Graphiti `llm_client`: an async `generate_response(messages, response_model=…)`."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import TimeoutError as FutureTimeoutError
from functools import cache
from typing import Any

from pydantic import BaseModel

from memgate_core.errors import ModelFaultError
from memgate_core.judgement.home_loop import home_loop
from memgate_core.judgement.ports.port import Question, Reply


class _Message(BaseModel):
    """What Graphiti's clients read and amend: a role and its content."""

    role: str
    content: str


class GraphitiPort:
    """Asks through the client that a Graphiti instance already has.

    An async client belongs to the event loop it was first used on. Inside an async call of the
    gate the request runs on the caller's own loop; otherwise on a loop kept for such requests.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self.name = str(getattr(client, "model", None) or type(client).__name__)

    def ask(self, question: Question, *, timeout: float) -> Reply:
        """See `ModelPort.ask`. Retries are the client's own, cut off by `timeout`."""
        before = self._spent()
        messages = [_Message(**message) for message in question.messages]
        content = _run(
            self._client.generate_response(messages, response_model=question.answer), timeout
        )
        after = self._spent()
        return Reply(
            content=content,
            tokens_in=max(0, after[0] - before[0]),
            tokens_out=max(0, after[1] - before[1]),
        )

    def _spent(self) -> tuple[int, int]:
        tracker = getattr(self._client, "token_tracker", None)
        if tracker is None:
            return (0, 0)
        total = tracker.get_total_usage()
        return (int(total.input_tokens), int(total.output_tokens))


def _run(asked: Coroutine[Any, Any, Any], timeout: float) -> object:
    future = asyncio.run_coroutine_threadsafe(asked, home_loop() or _own_loop())
    try:
        return future.result(timeout)
    except FutureTimeoutError:
        future.cancel()
        raise ModelFaultError(f"the model did not answer within {timeout:g} s") from None


@cache
def _own_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="memgate-model-loop", daemon=True).start()
    return loop
