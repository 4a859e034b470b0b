"""Every way to a model, over real HTTP with the frameworks' own clients."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from memgate_core import DecisionType, Receipt
from memgate_core.errors import ConfigurationError, ModelFaultError
from memgate_core.judgement.ports.deadline import within
from memgate_core.judgement.ports.recognise import port_to
from tests.backends.conftest import OpenTalk
from tests.backends.service import Answer, Service, running
from tests.langchain.scripted_chat import ScriptedChat, says
from tests.support.talk import Talk


@pytest.fixture
def service() -> Iterator[Service]:
    with running() as started:
        yield started


def decisions(receipt: Receipt) -> set[DecisionType]:
    return {judged.decision.decision for judged in receipt.judged}


def life(ana: Talk, *, tokens: int) -> None:
    """A plan is held, and comes true; each turn costs one call."""
    held = ana.says("I might sell the piano.")
    assert decisions(held) == {DecisionType.STAGE}, held.faults
    done = ana.says("I sold the piano.")
    assert len(done.resolved) == 1
    assert (held.model_calls, done.model_calls) == (1, 1)
    assert held.model_tokens == done.model_tokens == tokens
    assert held.faults == done.faults == ()


# --- a url -----------------------------------------------------------------------------------------


def test_a_url_is_asked_over_http(service: Service, talk_with: OpenTalk) -> None:
    options = {"name": "some-model", "api_key": "key-1"}
    life(talk_with(service.url, model_options=options), tokens=100)
    body = service.bodies[0]
    assert body["model"] == "some-model"
    assert body["temperature"] == 0
    assert body["response_format"]["json_schema"]["name"] == "StatementSheet"
    assert service.keys == ["Bearer key-1", "Bearer key-1"]


def test_a_busy_service_is_asked_again(service: Service, talk_with: OpenTalk) -> None:
    service.answers = [
        Answer(status=429, headers={"Retry-After": "0"}, body="{}"),
        Answer(status=503, headers={"Retry-After": "0"}, body="{}"),
    ]
    receipt = talk_with(service.url).says("I might sell the piano.")
    assert receipt.faults == ()
    assert len(service.bodies) == 3


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (
            Answer(status=429, headers={"Retry-After": "0"}, body="{}"),
            "HTTPStatusError (status 429)",
        ),
        (Answer(status=500, headers={"Retry-After": "0"}, body="oops"), "(status 500)"),
        (Answer(status=401, body="{}"), "(status 401)"),
        (Answer(refusal="I will not."), "the model refused"),
        (Answer(content="As a language model I cannot."), "prose"),
        (Answer(content=""), "empty"),
        (Answer(body="<html>proxy</html>"), "did not answer in JSON"),
        (Answer(body='{"choices": []}'), "without a chat completion"),
    ],
)
def test_a_fault_over_http_ends_in_hold_and_report(
    answer: Answer, fault: str, service: Service, talk_with: OpenTalk
) -> None:
    service.answers = [answer] * 3
    ana = talk_with(service.url)
    receipt = ana.says("I sold the piano.")
    assert decisions(receipt) == {DecisionType.STAGE}
    assert fault in receipt.faults[0]
    assert ana.facts() == []


def test_a_service_that_does_not_answer_in_time(service: Service, talk_with: OpenTalk) -> None:
    service.answers = [Answer(after_s=2)]
    receipt = talk_with(service.url, model_options={"timeout": 0.3}).says("I sold the piano.")
    assert decisions(receipt) == {DecisionType.STAGE}
    assert receipt.faults == ("the model failed: ReadTimeout",)
    assert receipt.model_ms < 1500
    assert len(service.bodies) == 1


def test_nobody_listens(talk_with: OpenTalk) -> None:
    receipt = talk_with("http://127.0.0.1:9/v1").says("I sold the piano.")
    assert decisions(receipt) == {DecisionType.STAGE}
    assert receipt.faults == ("the model failed: ConnectError",)


def test_what_a_service_does_not_take_is_left_out(service: Service, talk_with: OpenTalk) -> None:
    def objects(body: dict[str, Any]) -> str | None:
        if "max_tokens" in body:
            return "max_tokens is not supported, use max_completion_tokens"
        for parameter in ("temperature", "response_format"):
            if parameter in body:
                return f"unsupported parameter: {parameter}"
        return None

    service.objects = objects
    ana = talk_with(service.url)
    assert ana.says("I might sell the piano.").faults == ()
    learned = len(service.bodies)
    ana.says("I sold the piano.")
    assert len(service.bodies) == learned + 1  # it is not tried again
    assert set(service.bodies[-1]) == {"model", "messages", "max_completion_tokens"}


# --- a LangChain chat model ----------------------------------------------------------------------------


def test_a_chat_model_with_structured_output(service: Service, talk_with: OpenTalk) -> None:
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

    model = ChatOpenAI(model="gpt-5.5", base_url=service.url, api_key=SecretStr("k"), max_retries=0)
    life(talk_with(model), tokens=100)
    assert service.bodies[0]["response_format"]["type"] == "json_schema"


def test_a_chat_models_own_errors_are_faults(service: Service, talk_with: OpenTalk) -> None:
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

    service.answers = [Answer(status=429, body='{"error": {"message": "slow"}}')]
    model = ChatOpenAI(model="m", base_url=service.url, api_key=SecretStr("k"), max_retries=0)
    receipt = talk_with(model).says("I sold the piano.")
    assert decisions(receipt) == {DecisionType.STAGE}
    assert "429" in receipt.faults[0]


def test_a_chat_model_that_only_writes_text(talk_with: OpenTalk) -> None:
    row = '{"n": 1, "type": "speculation", "confidence": 0.9, "standing": "own"}'
    model = says(f'Here it is:\n```json\n{{"statements": [{row}]}}\n```')
    receipt = talk_with(_Plain(model)).says("I might sell the piano.")
    assert receipt.faults == ()
    assert decisions(receipt) == {DecisionType.STAGE}


class _Plain:
    """A chat model without structured output."""

    def __init__(self, model: ScriptedChat) -> None:
        self.invoke = model.invoke


# --- the models that Mem0 and Graphiti already have --------------------------------------------------------


def test_a_mem0_llm(service: Service, talk_with: OpenTalk) -> None:
    from mem0.configs.llms.openai import OpenAIConfig
    from mem0.llms.openai import OpenAILLM

    llm = OpenAILLM(OpenAIConfig(model="m", api_key="k", openai_base_url=service.url))
    life(talk_with(llm), tokens=0)
    assert service.bodies[0]["response_format"] == {"type": "json_object"}


def graphiti_client(service: Service) -> Any:
    from graphiti_core.llm_client.config import LLMConfig
    from graphiti_core.llm_client.openai_generic_client import OpenAIGenericClient

    return OpenAIGenericClient(LLMConfig(api_key="k", model="m", base_url=service.url))


def test_a_graphiti_client(service: Service, talk_with: OpenTalk) -> None:
    life(talk_with(graphiti_client(service)), tokens=0)


async def test_a_graphiti_client_is_asked_on_the_callers_own_loop(
    service: Service, talk_with: OpenTalk
) -> None:
    client = graphiti_client(service)
    threads: set[str] = set()
    asked = client.generate_response

    async def watched(*args: Any, **kwargs: Any) -> Any:
        threads.add(threading.current_thread().name)
        return await asked(*args, **kwargs)

    client.generate_response = watched
    ana = talk_with(client)
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            beats += 1
            await asyncio.sleep(0.01)

    beating = asyncio.create_task(beat())
    service.answers = [Answer(after_s=0.4)]
    receipt = await ana.gate.aobserve(ana.turn("I might sell the piano."))
    beating.cancel()
    assert receipt.faults == ()
    assert threads == {threading.current_thread().name}
    assert beats > 10  # the loop went on meanwhile


def test_a_graphiti_client_that_does_not_answer(service: Service, talk_with: OpenTalk) -> None:
    service.answers = [Answer(after_s=2)]
    ana = talk_with(graphiti_client(service), model_options={"timeout": 0.3})
    receipt = ana.says("I sold the piano.")
    assert receipt.faults == ("the model did not answer within 0.3 s",)
    assert decisions(receipt) == {DecisionType.STAGE}


# --- parts --------------------------------------------------------------------------------------------------


def test_a_ready_port_is_taken_as_it_is() -> None:
    class Ready:
        name = "ready"

        def ask(self, question: Any, *, timeout: float) -> Any:
            """See `ModelPort.ask`."""

    port = Ready()
    assert port_to(port) is port


def test_what_is_no_model_is_named() -> None:
    with pytest.raises(ConfigurationError, match="no model: dict"):
        port_to({})


def test_a_call_in_time_gives_its_result_or_its_error() -> None:
    assert within(5, lambda: 7) == 7
    with pytest.raises(httpx.ConnectError):
        within(5, _fails)
    with pytest.raises(ModelFaultError, match=r"within 0\.05 s"):
        within(0.05, threading.Event().wait)


def _fails() -> None:
    raise httpx.ConnectError("no")
