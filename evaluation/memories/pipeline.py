"""A pipeline with a real framework behind it: what its own search returns is part of the trace."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

from evaluation.memories.store import FrameworkMemory
from evaluation.plans.baselines import BaselinePipeline
from evaluation.plans.extractors import extractor_of
from evaluation.plans.format import Conversation, Extraction, Step
from evaluation.plans.gated import GatedPipeline
from evaluation.plans.pipeline import Pipeline, turn_of
from evaluation.plans.setting import ModelAccess, Setting
from evaluation.plans.trace import Final, TurnTrace
from memgate_core import MemoryGate
from memgate_core.errors import ConfigurationError
from memgate_core.ledger.protocol import Ledger

_PACKAGES = {"mem0": "mem0", "graphiti": "graphiti_core", "langchain": "langgraph"}


def memory_pipeline(
    conversation: Conversation, setting: Setting, ledger: Ledger | None
) -> Pipeline:
    """The setting's pipeline over a real, embedded framework.

    Raises:
        ConfigurationError: the framework is not installed.
    """
    package = _PACKAGES[setting.memory]
    if find_spec(package) is None:
        raise ConfigurationError(
            f"--memory {setting.memory} needs {package}",
            hint=f'pip install "agentmemgate[{setting.memory}]"',
        )
    if setting.gate == "on":
        return GatedMemoryPipeline(conversation, setting, ledger)
    return ReleasedMemoryPipeline(conversation, setting)


def framework_memory(
    conversation: Conversation, setting: Setting, gate: MemoryGate | None
) -> FrameworkMemory:
    """The framework's memory for one conversation. Its model is the setting's where extraction is
    by a model, else recorded extractions answer in a model's place."""
    style = setting.style
    recorded = (
        [one for step in conversation.steps() for one in step.recorded(style)] if style else []
    )
    model = setting.model if setting.extraction == "llm" else None
    return _FRAMEWORKS[setting.memory](conversation, recorded, gate, model)


_Open = Callable[
    [Conversation, list[Extraction], MemoryGate | None, ModelAccess | None], FrameworkMemory
]


def _mem0(
    conversation: Conversation,
    recorded: list[Extraction],
    gate: MemoryGate | None,
    model: ModelAccess | None,
) -> FrameworkMemory:
    from evaluation.memories.mem0 import Mem0Memory
    from evaluation.memories.models import mem0_llm

    return Mem0Memory(conversation, recorded, gate=gate, llm=mem0_llm(model) if model else None)


def _graphiti(
    conversation: Conversation,
    recorded: list[Extraction],
    gate: MemoryGate | None,
    model: ModelAccess | None,
) -> FrameworkMemory:
    from evaluation.memories.graphiti import GraphitiMemory
    from evaluation.memories.models import graphiti_llm

    llm = graphiti_llm(model) if model else None
    return GraphitiMemory(conversation, recorded, gate=gate, llm=llm)


def _langchain(
    conversation: Conversation,
    recorded: list[Extraction],
    gate: MemoryGate | None,
    model: ModelAccess | None,
) -> FrameworkMemory:
    from evaluation.memories.langgraph import LangGraphMemory

    if model is not None:
        raise ConfigurationError("a LangGraph store has no extraction of its own to give a model")
    return LangGraphMemory(conversation, recorded, gate=gate)


_FRAMEWORKS: dict[str, _Open] = {"mem0": _mem0, "graphiti": _graphiti, "langchain": _langchain}


class GatedMemoryPipeline(GatedPipeline):
    """The gate with a framework behind it. The gate hears each turn with its recorded proposals;
    the framework's own call then finds the turn judged."""

    def __init__(
        self, conversation: Conversation, setting: Setting, ledger: Ledger | None = None
    ) -> None:
        super().__init__(conversation, setting, ledger)
        self.memory = framework_memory(conversation, setting, self.gate)
        self._extract = extractor_of(setting, conversation)
        # a framework with a model of its own extracts itself; the gate then reads the words alone
        self._proposes = setting.extraction != "llm"

    def take(self, step: Step) -> TurnTrace:
        """Observes, hands over, reads both the profile and the framework."""
        turn = turn_of(self._conversation, step)
        proposals = self._extract(step) if step.is_user and self._proposes else None
        carried = self.memory.carries
        receipt = self.gate.observe(turn, proposals or None, carried=carried)
        self.memory.add(step)
        line = self.traced(step, receipt)
        if not step.is_user:
            return line
        return line.model_copy(update={"memory": _probed(self.memory, self._conversation)})

    def everything(self) -> list[str]:
        """All that a reader of the framework could come across now."""
        return self.memory.everything()

    def close(self) -> None:
        """Closes the framework, then the gate."""
        self.memory.close()
        super().close()


class ReleasedMemoryPipeline(BaselinePipeline):
    """The framework as released, beside the ungated profile store on the same extractions."""

    def __init__(self, conversation: Conversation, setting: Setting) -> None:
        # a framework with a model of its own extracts itself; the store then reads the words alone
        own = setting.extraction == "llm"
        super().__init__(
            conversation, setting.model_copy(update={"extraction": "local"}) if own else setting
        )
        self._memory = framework_memory(conversation, setting, None)

    def take(self, step: Step) -> TurnTrace:
        """Hands over and reads the framework."""
        line = super().take(step)
        self._memory.add(step)
        if not step.is_user:
            return line
        return line.model_copy(update={"memory": _probed(self._memory, self._conversation)})

    def final(self) -> Final:
        """The ungated store's answer; what the framework holds stands in the trace."""
        return super().final()

    def close(self) -> None:
        """Closes the framework."""
        self._memory.close()


def _probed(memory: FrameworkMemory, conversation: Conversation) -> list[str]:
    return memory.search(conversation.probe or conversation.field.description)
