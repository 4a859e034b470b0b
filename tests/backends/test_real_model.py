"""A real model over HTTP: the protocol end to end. What a model this small *thinks* is not tested.

Whatever it answers, one of two things follows: a judgement by the agreed form, or hold and report.
That it did answer is asked of the server itself: a server that is down fails these tests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from memgate_core import DecisionType, Receipt
from memgate_core.model import EvidenceType
from tests.backends.conftest import OpenTalk
from tests.backends.small_model import SmallModel

pytestmark = pytest.mark.slow

SAID = "I might sell the piano."
SHORT = 160
"""Tokens of an answer: a proper one takes a third of that."""
PATIENT: dict[str, Any] = {"timeout": 600.0}
"""A busy machine gives a model little time; a free one answers in seconds."""
OF_CONTENT = re.compile(
    r"JSON|prose|is empty|unanswered|outside the form|not registered|does not have|LengthFinishReason"
)
"""What may be wrong with an answer that came. A request that failed is none of these."""


@pytest.fixture
def heard(served: SmallModel) -> Iterator[Callable[[Receipt], Receipt]]:
    """Checks a receipt: every statement was judged by the model, or is held with a report."""
    before = served.written()

    def checked(receipt: Receipt) -> Receipt:
        assert receipt.judged
        assert receipt.model_calls == 1
        assert all(OF_CONTENT.search(fault) for fault in receipt.faults), receipt.faults
        for judged in receipt.judged:
            by_model = judged.judgement.backend.startswith("llm/1:")
            assert by_model or judged.judgement.fault in receipt.faults
            assert set(judged.judgement.probabilities) == set(EvidenceType)
            if not by_model:
                assert judged.decision.decision is DecisionType.STAGE
        return receipt

    yield checked
    assert served.written() > before


def test_by_url(
    served: SmallModel, talk_with: OpenTalk, heard: Callable[[Receipt], Receipt]
) -> None:
    options = {**PATIENT, "name": "gemma-3-270m"}
    receipt = heard(talk_with(served.url, model_options=options).says(SAID))
    assert receipt.model_ms > 0
    assert receipt.model_tokens > 100


def test_with_mem0s_own_llm(
    served: SmallModel, talk_with: OpenTalk, heard: Callable[[Receipt], Receipt]
) -> None:
    """The llm that a Mem0 memory builds from its settings."""
    from mem0.configs.base import MemoryConfig
    from mem0.utils.factory import LlmFactory

    settings: dict[str, Any] = {"model": "m", "api_key": "k", "openai_base_url": served.url}
    settings |= {"max_tokens": SHORT, "temperature": 0}
    config = MemoryConfig.model_validate({"llm": {"provider": "openai", "config": settings}})
    llm = LlmFactory.create(config.llm.provider, config.llm.config)
    heard(talk_with(llm, model_options=PATIENT).says(SAID))


def test_with_a_chat_model(
    served: SmallModel, talk_with: OpenTalk, heard: Callable[[Receipt], Receipt]
) -> None:
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

    model = ChatOpenAI(
        model="m",
        base_url=served.url,
        api_key=SecretStr("k"),
        temperature=0,
        max_completion_tokens=SHORT,
    )
    receipt = heard(talk_with(model, model_options=PATIENT).says(SAID))
    assert receipt.model_tokens > 100


def test_with_graphitis_own_client(
    served: SmallModel, talk_with: OpenTalk, heard: Callable[[Receipt], Receipt]
) -> None:
    from graphiti_core.llm_client.config import LLMConfig
    from graphiti_core.llm_client.openai_generic_client import OpenAIGenericClient

    config = LLMConfig(api_key="k", model="m", base_url=served.url, temperature=0)
    client = OpenAIGenericClient(config, max_tokens=SHORT)
    receipt = heard(talk_with(client, model_options=PATIENT).says(SAID))
    assert receipt.model_ms > 0
