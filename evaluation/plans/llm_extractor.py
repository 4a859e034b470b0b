"""A language model as the extractor, in the paper's literal style, one request a user turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evaluation.plans.format import Conversation, Step
from evaluation.plans.pipeline import turn_of
from evaluation.plans.setting import ModelAccess
from memgate_core.judgement.ports.recognise import port_to
from memgate_core.judgement.proposer import LlmProposer
from memgate_core.model import HistoryTurn, Role

if TYPE_CHECKING:
    from evaluation.plans.extractors import Extractor


def llm_extractor(conversation: Conversation, access: ModelAccess) -> Extractor:
    """Asks the model about each user turn, with the two turns before it.

    Raises:
        ConfigurationError: the url cannot be used.
    """
    key = access.key.get_secret_value() if access.key else None
    proposer = LlmProposer(port_to(access.url, name=access.name, api_key=key))
    steps = list(conversation.steps())

    def extract(step: Step) -> list[dict[str, Any]]:
        before = steps[max(0, step.index - 2) : step.index]
        history = [HistoryTurn(role=Role(s.turn.role), content=s.turn.content) for s in before]
        return list(proposer.propose(turn_of(conversation, step, history)))

    return extract
