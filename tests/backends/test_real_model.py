"""A real model over HTTP: the protocol end to end. What a model this small *thinks* is not tested.

Whatever it answers, one of two things follows: a judgement by the agreed form, or hold and report.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from memgate_core import DecisionType, Receipt
from memgate_core.model import EvidenceType
from tests.backends import small_model
from tests.backends.conftest import OpenTalk

pytestmark = [pytest.mark.slow, pytest.mark.long]

PATIENT: dict[str, Any] = {"timeout": 600.0}
"""A busy machine gives a model little time; a free one answers in seconds."""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with small_model.running(tmp_path_factory.mktemp("model")) as served:
        yield served


def checked(receipt: Receipt) -> Receipt:
    """Every statement was judged by the model, or is held with a report."""
    assert receipt.model_calls == 1
    for judged in receipt.judged:
        by_model = judged.judgement.backend.startswith("llm/1:")
        assert by_model or judged.judgement.fault in receipt.faults
        assert set(judged.judgement.probabilities) == set(EvidenceType)
        if not by_model:
            assert judged.decision.decision in (DecisionType.STAGE, DecisionType.IGNORE)
    return receipt


def test_by_url(url: str, talk_with: OpenTalk) -> None:
    ana = talk_with(url, model_options={**PATIENT, "name": "gemma-3-270m"})
    receipt = checked(ana.says("I might sell the piano."))
    assert receipt.model_ms > 0
    assert receipt.model_tokens > 100


def test_with_a_mem0_llm(url: str, talk_with: OpenTalk) -> None:
    from mem0.configs.llms.openai import OpenAIConfig
    from mem0.llms.openai import OpenAILLM

    config = OpenAIConfig(model="m", api_key="k", openai_base_url=url, max_tokens=300)
    ana = talk_with(OpenAILLM(config), model_options=PATIENT)
    checked(ana.says("I might sell the piano."))


def test_with_a_graphiti_client(url: str, talk_with: OpenTalk) -> None:
    from graphiti_core.llm_client.config import LLMConfig
    from graphiti_core.llm_client.openai_generic_client import OpenAIGenericClient

    client = OpenAIGenericClient(LLMConfig(api_key="k", model="m", base_url=url), max_tokens=300)
    checked(talk_with(client, model_options=PATIENT).says("I might sell the piano."))


def test_with_a_chat_model(url: str, talk_with: OpenTalk) -> None:
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

    model = ChatOpenAI(model="m", base_url=url, api_key=SecretStr("k"), max_completion_tokens=300)
    checked(talk_with(model, model_options=PATIENT).says("I might sell the piano."))
