"""A language model as the extractor, in either of the paper's styles, one request a user turn."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from evaluation.plans.format import Conversation, Step, Style
from evaluation.plans.pipeline import turn_of
from evaluation.plans.setting import ModelAccess
from memgate_core.errors import ModelFaultError
from memgate_core.judgement.ports.recognise import port_to
from memgate_core.judgement.proposer import LlmProposer
from memgate_core.judgement.sitting import sitting
from memgate_core.model import HistoryTurn, Role, Turn

if TYPE_CHECKING:
    from evaluation.plans.extractors import Extractor

Found = list[dict[str, Any]]
_KEPT = 512
_known: OrderedDict[tuple[str, ...], Found] = OrderedDict()
"""What was extracted last, so that all pipelines of a style see the same of a turn."""


def llm_extractor(
    conversation: Conversation, access: ModelAccess, style: Style = "literal"
) -> Extractor:
    """Asks the model about each user turn, with the two turns before it. A turn on which it fails
    is asked about once more.

    Raises:
        ConfigurationError: the url cannot be used. The extractor raises ModelFaultError where the
        model failed twice.
    """
    key = access.key.get_secret_value() if access.key else None
    port = port_to(access.url, name=access.name, api_key=key)
    proposer = LlmProposer(port, style=style, timeout=60.0)
    steps = list(conversation.steps())

    def extract(step: Step) -> Found:
        before = steps[max(0, step.index - 2) : step.index]
        history = [HistoryTurn(role=Role(s.turn.role), content=s.turn.content) for s in before]
        turn = turn_of(conversation, step, history)
        place = (access.url, proposer.name, turn.text, *(h.content for h in history))
        if place not in _known:
            _keep(place, _proposed(proposer, turn))
        return _known[place]

    return extract


def _keep(place: tuple[str, ...], found: Found) -> None:
    _known[place] = found
    if len(_known) > _KEPT:
        _known.popitem(last=False)


def _proposed(proposer: LlmProposer, turn: Turn) -> Found:
    faults: Iterable[str] = ()
    for _ in range(2):
        with sitting() as account:
            found = proposer.propose(turn)
            faults = tuple(account.faults)
        if not faults:
            return found
    raise ModelFaultError(f"extraction failed: {'; '.join(faults)}")
