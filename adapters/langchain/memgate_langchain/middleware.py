"""`MemgateMiddleware`: an agent that knows what is true of its user, and does not claim more."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from enum import StrEnum
from typing import Annotated, Any, NotRequired

from langchain.agents.middleware.types import (
    AgentMiddleware,
    AgentState,
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    OmitFromSchema,
    ToolCallRequest,
)
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.types import Command

from memgate_core.gate import MemoryGate
from memgate_core.ledger.terms import terms_of
from memgate_core.model import JsonObject, Receipt, StagedItem, Subject
from memgate_langchain.messages import Clock, now, turns_of
from memgate_langchain.whose import Whose, session_in, subject_in
from memgate_langchain.wording import briefing
from memgate_langchain.writing import Writing, model_writes

Answer = ModelResponse[Any] | AIMessage | ExtendedModelResponse[Any]
ToolAnswer = ToolMessage | Command[Any]

_OUTPUT_ONLY = OmitFromSchema(input=True, output=False)

_TURNS_SHOWN = 20
"""Latest user turns that a memory tool's paraphrase may rest on."""


class When(StrEnum):
    """When the user's turn goes through the gate."""

    BEFORE_REPLY = "before_reply"
    """Before the model answers, so that it can say truthfully what was held."""
    AFTER_REPLY = "after_reply"
    """After the agent has answered; the receipt is there for the next call."""


class MemgateState(AgentState[Any]):
    """The agent's state, with what the gate did."""

    memgate_receipts: NotRequired[Annotated[list[JsonObject], _OUTPUT_ONLY]]
    """Receipts of the user's latest turns (`Receipt.model_validate` reads them)."""


class MemgateMiddleware(AgentMiddleware[MemgateState, Any, Any]):
    """Puts the user's profile into every model call and takes the turns through the gate.

        agent = create_agent(model, tools, middleware=[MemgateMiddleware(gate)])
        agent.invoke({"messages": [...]}, {"configurable": {"user_id": "ana"}})

    It brings no tools: there is no way for a model to promote or discard a held item. Memory tools
    of others (LangMem's) keep working over a `GatedStore`: what they write is judged on the turn's
    own words, and their answers say so when something was kept back.
    """

    state_schema = MemgateState

    def __init__(
        self,
        gate: MemoryGate | str,
        *,
        user: Whose = None,
        tenant: str = "default",
        when: When | str = When.BEFORE_REPLY,
        offer: int = 2,
        clock: Clock = now,
    ) -> None:
        """`gate`: a gate, or the url of a ledger. `user`: whose memory (default: the run's
        `user_id`). `offer`: how many plans at most are put before the model to ask about, when
        their day has come or the turn touches them; 0 keeps plans from the model altogether.

        Raises:
            LedgerError: no ledger at the url.
        """
        super().__init__()
        self.tools: Sequence[Any] = ()
        self.gate = MemoryGate.open(gate) if isinstance(gate, str) else gate
        self._user, self._tenant, self._when = user, tenant, When(when)
        self._offer, self._clock = offer, clock

    # --- the user's turn -------------------------------------------------------------------------

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Takes the user's latest messages through the gate."""
        if self._when is When.AFTER_REPLY:
            return None
        return self._take_in(state, self._subject(state, runtime), session_in())

    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """As `before_agent`, off the event loop."""
        if self._when is When.AFTER_REPLY:
            return None
        subject, session = self._subject(state, runtime), session_in()
        return await self.gate.off_loop(self._take_in, state, subject, session)

    def after_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Takes the agent's reply in (it is context, never a fact), and delivers what is due."""
        return self._finish(state, self._subject(state, runtime), session_in())

    async def aafter_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """As `after_agent`, off the event loop."""
        subject, session = self._subject(state, runtime), session_in()
        update = await self.gate.off_loop(self._record_reply, state, subject, session)
        await self.gate.adeliver(subject=subject)
        return update

    # --- the model call ---------------------------------------------------------------------------

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> Answer:
        """Adds the briefing to the system message."""
        text = self._briefing(request.state, self._subject(request.state, request.runtime))
        return handler(_briefed(request, text))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> Answer:
        """As `wrap_model_call`, off the event loop."""
        subject = self._subject(request.state, request.runtime)
        text = await self.gate.off_loop(self._briefing, request.state, subject)
        return await handler(_briefed(request, text))

    # --- tools that write to a gated store --------------------------------------------------

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolAnswer]
    ) -> ToolAnswer:
        """Judges what a tool writes to a gated store on the turn's own words."""
        if self._when is When.AFTER_REPLY:
            return handler(request)
        with self._tool_writes(request) as writing:
            return _truthful(handler(request), writing)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolAnswer]]
    ) -> ToolAnswer:
        """As `wrap_tool_call`."""
        if self._when is When.AFTER_REPLY:
            return await handler(request)
        with self._tool_writes(request) as writing:
            return _truthful(await handler(request), writing)

    # --- parts ------------------------------------------------------------------------------------

    def _subject(self, state: Any, runtime: Any) -> Subject:
        return subject_in(self._user, state, runtime, tenant=self._tenant)

    def _take_in(self, state: Any, subject: Subject, session: str | None) -> dict[str, Any]:
        turns = turns_of(
            _unanswered(state["messages"]), subject, session=session, clock=self._clock
        )
        receipts = self.gate.observe_all(turns)
        return {"memgate_receipts": [receipt.model_dump(mode="json") for receipt in receipts]}

    def _finish(self, state: Any, subject: Subject, session: str | None) -> dict[str, Any] | None:
        update = self._record_reply(state, subject, session)
        self.gate.deliver(subject=subject)
        return update

    def _record_reply(
        self, state: Any, subject: Subject, session: str | None
    ) -> dict[str, Any] | None:
        update = None
        if self._when is When.AFTER_REPLY:
            asked = _asked(state["messages"])
            update = self._take_in({"messages": asked}, subject, session)
        reply = state["messages"][-1:]
        for turn in turns_of(
            [m for m in reply if isinstance(m, AIMessage)],
            subject,
            session=session,
            clock=self._clock,
        ):
            self.gate.observe(turn)
        return update

    def _briefing(self, state: Any, subject: Subject) -> str:
        receipts = [Receipt.model_validate(r) for r in state.get("memgate_receipts") or ()]
        facts = self.gate.profile(subject).facts()
        return briefing(facts, receipts, self._offered(state, subject))

    def _offered(self, state: Any, subject: Subject) -> list[StagedItem]:
        """Plans whose day has come, then those that the latest words touch; only a few."""
        if not self._offer:
            return []
        asked = _asked(state["messages"])
        wanted = terms_of(" ".join(str(m.text) for m in asked))
        due = self.gate.profile(subject).due_for_review(self._clock())
        touched = self.gate.ledger.touched(subject, wanted, session=None, limit=4 * self._offer)
        near = [item for item in touched if wanted & terms_of(f"{item.text} {item.words}")]
        found = {item.staged_id: item for item in [*due, *near]}
        just_said = {message.id for message in asked}
        older = [i for i in found.values() if i.evidence.message_id not in just_said]
        return older[: self._offer]

    def _tool_writes(self, request: ToolCallRequest) -> Any:
        state = request.state
        messages = state["messages"] if isinstance(state, dict) else getattr(state, "messages", [])
        heard = [m.id for m in messages if isinstance(m, HumanMessage) and m.id]
        subject = self._subject(state, request.runtime)
        return model_writes(subject, tuple(heard[-_TURNS_SHOWN:]))


def _unanswered(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The user's messages after the last reply."""
    found: list[BaseMessage] = []
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            break
        if isinstance(message, HumanMessage):
            found.append(message)
    return found[::-1]


def _asked(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The user's messages that this run answers, whatever the agent did since."""
    last = max((i for i, m in enumerate(messages) if isinstance(m, HumanMessage)), default=-1)
    return _unanswered(messages[: last + 1])


def _briefed(request: ModelRequest[Any], text: str) -> ModelRequest[Any]:
    before = request.system_message
    if before is None:
        return request.override(system_message=SystemMessage(content=text))
    content: Any = [*before.content_blocks, {"type": "text", "text": f"\n\n{text}"}]
    return request.override(system_message=SystemMessage(content=content))


def _truthful(answer: ToolAnswer, writing: Writing) -> ToolAnswer:
    """A tool's answer that does not say "saved" about what was kept back."""
    if not writing.kept_back or not isinstance(answer, ToolMessage):
        return answer
    reasons = "; ".join(dict.fromkeys(writing.kept_back))
    text = f"NOT SAVED: {reasons}. Do not tell the user that it was. (Tool output: {answer.text})"
    return answer.model_copy(update={"content": text})
