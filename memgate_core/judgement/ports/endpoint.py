"""A URL that speaks the OpenAI chat completions protocol: hosted services and local servers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from time import monotonic
from typing import Any

import httpx
from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt

from memgate_core.errors import ConfigurationError, ModelFaultError
from memgate_core.judgement.ports.port import Question, Reply

_ATTEMPTS = 3
_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_LONGEST_PAUSE = 8.0


class EndpointPort:
    """Asks over HTTP, holding the model to the answer's JSON Schema where the server can."""

    def __init__(
        self,
        url: str,
        *,
        model: str = "default",
        api_key: str | None = None,
        client: httpx.Client | None = None,
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise ConfigurationError(f"model url {url!r} is no http(s) address")
        self.name = model
        self._url = url.rstrip("/").removesuffix("/chat/completions") + "/chat/completions"
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._optional: dict[str, Any] = {"temperature": 0, "max_tokens": None}
        self._schema = True
        self._client = client or httpx.Client()

    def ask(self, question: Question, *, timeout: float) -> Reply:
        """See `ModelPort.ask`. Busy and failing servers are asked up to three times.

        Raises:
            ModelFaultError: an error status, a refusal, or no chat completion in the answer.
            httpx.HTTPError: the server cannot be reached, or not in time.
        """
        ends = monotonic() + timeout
        for attempt in Retrying(
            stop=lambda state: _enough(state, ends),
            wait=_pause,
            retry=retry_if_exception(_passes),
            reraise=True,
        ):
            with attempt:
                body = self._post(question, max(0.05, ends - monotonic()))
        return _reply(body)

    def _post(self, question: Question, timeout: float) -> Any:
        answer = self._send(self._body(question), timeout)
        while answer.status_code in (400, 422) and self._learns_from(answer.text):
            answer = self._send(self._body(question), timeout)
        answer.raise_for_status()
        try:
            return answer.json()
        except ValueError:
            raise ModelFaultError("the model's server did not answer in JSON") from None

    def _send(self, body: dict[str, Any], timeout: float) -> httpx.Response:
        return self._client.post(self._url, json=body, headers=self._headers, timeout=timeout)

    def _body(self, question: Question) -> dict[str, Any]:
        optional = {k: question.longest if v is None else v for k, v in self._optional.items()}
        body = {"model": self.name, "messages": question.messages, **optional}
        if self._schema:
            name, schema = question.answer.__name__, question.answer.model_json_schema()
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": name, "schema": schema},
            }
        return body

    def _learns_from(self, complaint: str) -> bool:
        """Gives up what the server says it does not take; True when there is something to give."""
        for parameter in [name for name in self._optional if name in complaint]:
            value = self._optional.pop(parameter)
            if parameter == "max_tokens" and "max_completion_tokens" in complaint:
                self._optional["max_completion_tokens"] = value
            return True
        if self._schema and ("response_format" in complaint or "schema" in complaint):
            self._schema = False
            return True
        return False


def _passes(fault: BaseException) -> bool:
    if isinstance(fault, httpx.HTTPStatusError):
        return fault.response.status_code in _PASSING
    return isinstance(fault, httpx.TransportError) and not isinstance(fault, httpx.TimeoutException)


def _enough(state: RetryCallState, ends: float) -> bool:
    return stop_after_attempt(_ATTEMPTS)(state) or monotonic() + _pause(state) >= ends


def _pause(state: RetryCallState) -> float:
    """What the server asks for, within reason; else half a second, then one."""
    fault = state.outcome.exception() if state.outcome is not None else None
    headers = fault.response.headers if isinstance(fault, httpx.HTTPStatusError) else {}
    try:
        return min(_LONGEST_PAUSE, float(headers["retry-after"]))
    except (KeyError, ValueError):
        return 0.5 * state.attempt_number


def _reply(body: Any) -> Reply:
    try:
        message = body["choices"][0]["message"]
    except (TypeError, KeyError, IndexError):
        raise ModelFaultError("the model's server answered without a chat completion") from None
    if message.get("refusal"):
        raise ModelFaultError("the model refused")
    usage = body.get("usage")
    counted: Mapping[str, Any] = usage if isinstance(usage, Mapping) else {}
    return Reply(
        content=_content(message),
        tokens_in=int(counted.get("prompt_tokens") or 0),
        tokens_out=int(counted.get("completion_tokens") or 0),
    )


def _content(message: Mapping[str, Any]) -> object:
    content = message.get("content")
    return content if isinstance(content, str) else json.dumps(content)
