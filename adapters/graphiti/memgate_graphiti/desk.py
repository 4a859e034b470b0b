"""What the gate does around Graphiti's own calls, for one Graphiti.

A call goes: `receive` (the gate judges every turn), `begin` (a claim, so that one worker makes the
call), Graphiti's own call inside `calling` (its LLM is judged), `record` (links and answer), and
`settle` (delivery). Nothing of it blocks the event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from functools import partial
from typing import Any, ParamSpec, TypeVar

from graphiti_core import Graphiti

from memgate_core.gate import MemoryGate
from memgate_core.model import JsonObject, NativeLink, StagedStatus, Subject
from memgate_core.projection import DeliveryReport, deliver
from memgate_graphiti import answers, linking
from memgate_graphiti.answers import Claim
from memgate_graphiti.bridge import LoopBridge
from memgate_graphiti.calls import ActiveCall, under_way
from memgate_graphiti.faults import typed
from memgate_graphiti.groups import Groups
from memgate_graphiti.native import Ingest
from memgate_graphiti.projection import GraphitiProjection
from memgate_graphiti.reception import Reception, receive
from memgate_graphiti.speech import Speakers, Speech
from memgate_graphiti.traffic import Traffic

P = ParamSpec("P")
T = TypeVar("T")

_DELIVERERS = 4
"""Threads for deliveries. They are apart, since a delivery waits for ingestions of its group, and
ingestions must never wait for a thread that a delivery has."""

_CALLERS = 8
"""Threads for what an ingestion asks of the gate and the ledger."""

_WAIT_S = 0.05
_ORPHANS_S = 5.0


class Desk:
    """The gate's side of one Graphiti."""

    def __init__(
        self,
        graphiti: Graphiti,
        gate: MemoryGate,
        *,
        tenant: str = "default",
        speakers: Speakers | None = None,
        name: str = "graphiti",
        owns_gate: bool = False,
        ingest: Ingest | None = None,
    ) -> None:
        self.gate, self.owns_gate = gate, owns_gate
        self.speakers = speakers or Speakers()
        self.groups = Groups(graphiti.driver, tenant)
        self.groups.answer_clones()
        self.traffic = Traffic()
        self.bridge = LoopBridge(self._forget_loop)
        self.projection = GraphitiProjection(
            graphiti,
            gate.ledger,
            groups=self.groups,
            bridge=self.bridge,
            speakers=self.speakers,
            fields=gate.fields,
            asserted=gate.asserted,
            name=name,
            traffic=self.traffic,
            ingest=ingest,
        )
        gate.attach(self.projection)
        with suppress(RuntimeError):  # built outside a loop: the first call's loop is the driver's
            self.bridge.adopt()
        self._running: dict[tuple[Subject, str], asyncio.Event] = {}
        self._lanes: dict[Subject, asyncio.Lock] = {}
        self._later: dict[Subject, asyncio.Task[Any]] = {}
        self._at_work: set[Future[Any]] = set()
        self._orphans: set[Future[Any]] = set()
        self._deliverers = ThreadPoolExecutor(_DELIVERERS, thread_name_prefix="memgate-deliver")
        self._callers = ThreadPoolExecutor(_CALLERS, thread_name_prefix="memgate-graphiti")

    @property
    def name(self) -> str:
        """The projection's name, under which the ledger knows this graph."""
        return self.projection.name

    # --- a call --------------------------------------------------------------------------------

    async def receive(
        self,
        speech: Speech,
        *,
        group_id: str,
        reference_time: datetime,
        message_id: str | None,
        actor: str | None = None,
        session: str | None = None,
        proposals: Sequence[Mapping[str, Any]] | None = None,
    ) -> Reception:
        """Takes a body through the gate; see `memgate_graphiti.reception.receive`."""
        self.bridge.adopt()
        return await self.gate.off_loop(
            receive,
            self.gate,
            self.groups,
            speech,
            group_id=group_id,
            reference_time=reference_time,
            message_id=message_id,
            actor=actor,
            session=session,
            proposals=proposals,
        )

    async def begin(self, reception: Reception) -> Claim:
        """Claims the call, waiting while another worker makes it."""
        if reception.minted:
            return Claim.FIRST
        while True:
            await self._until_free(reception)
            self._running[reception.anchor] = asyncio.Event()
            try:
                found = await self.off_loop(
                    answers.claim, self.gate.ledger, *reception.anchor, self.name
                )
            except BaseException:
                self._done(reception)
                raise
            if found in (Claim.DONE, Claim.TAKEN):
                self._done(reception)
            if found is not Claim.TAKEN:
                return found
            await asyncio.sleep(_WAIT_S)

    @asynccontextmanager
    async def calling(self, reception: Reception) -> AsyncIterator[ActiveCall]:
        """Inside it Graphiti's LLM is judged. A failure frees the claim and is typed.

        Raises:
            ModelFaultError: the LLM failed, or its extraction was malformed.
            ProjectionError: the database did not answer.
        """
        call = ActiveCall(
            owner=self,
            sources=reception.sources(self.speakers),
            judges=not reception.shadow,
        )
        try:
            with under_way(call):
                yield call
        except BaseException as fault:
            await asyncio.shield(self.give_up(reception))
            error = typed(fault) if isinstance(fault, Exception) else fault
            if error is fault:
                raise
            raise error from fault

    async def record(
        self, reception: Reception, answer: JsonObject, links: Sequence[tuple[Subject, NativeLink]]
    ) -> None:
        """Records the answer and the links. To be awaited while the group is still ingesting: a
        delivery in between would not know what the call has stored.

        Raises:
            LedgerError: the claim is free again, and the call may be retried.
        """
        try:
            await self.off_loop(self._record, reception, answer, links)
        except BaseException:
            await asyncio.shield(self.give_up(reception))
            raise
        self._done(reception)

    async def settle(self, reception: Reception) -> int:
        """Delivers what a reception led to: what changes the facts that a reader sees now, the
        rest in the background. Returns how many events the graph has not taken."""
        if not reception.closes:
            for subject in reception.subjects if reception.events else ():
                self.deliver_later(subject)
            return 0
        reports = [await self.deliver(subject) for subject in reception.subjects]
        failed = sum(report.failed for report in reports)
        return failed or await self.off_loop(self._waiting, reception.subjects)

    def _waiting(self, subjects: Iterable[Subject]) -> int:
        """Promotions that the graph has not taken, whichever run tried them."""
        staged = self.gate.ledger.staged
        return sum(len(staged(subject, status=StagedStatus.PROMOTING)) for subject in subjects)

    async def recorded(self, reception: Reception) -> JsonObject | None:
        """The answer that the same call got before; None while it was not made."""
        record = await self.off_loop(self.gate.ledger.turn, *reception.anchor)
        return answers.result_in(record, self.name)

    # --- inside Graphiti's own call ------------------------------------------------------------

    async def judge(self, call: ActiveCall, name: str, found: list[dict[str, Any]]) -> list[bool]:
        """Which of the edges or summaries that Graphiti's LLM made may be stored."""
        check = linking.judge if name == "edges" else linking.judge_summaries
        return await self.off_loop(check, self.gate, call, found)

    async def off_loop(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs a blocking call of an ingestion in a thread."""
        work = partial(call, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._callers, work)

    # --- delivery ----------------------------------------------------------------------------

    async def deliver(self, subject: Subject | None = None) -> DeliveryReport:
        """Carries what is due into this graph. Never raises for the database's fault."""
        work = partial(deliver, self.gate.ledger, self.projection, subject=subject)
        return await self.delivering(subject, work)

    async def delivering(
        self, owner: Subject | None, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Runs a blocking call that delivers, one after another for each subject: the ledger gives
        a subject's events to one thread at a time, and another one would find nothing to do."""
        self.bridge.adopt()
        await self._after_orphans()
        lane = self._lanes.setdefault(owner, asyncio.Lock()) if owner else asyncio.Lock()
        async with lane:
            work = self._deliverers.submit(call, *args, **kwargs)
            self._at_work.add(work)
            work.add_done_callback(self._at_work.discard)
            return await asyncio.wrap_future(work)

    def deliver_later(self, subject: Subject) -> None:
        """Delivers in the background; a fault leaves the events due."""
        running = self._later.get(subject)
        if running is not None and not running.done():
            running.add_done_callback(lambda _: self._again(subject))
            return
        self._later[subject] = asyncio.get_running_loop().create_task(self._deliver_one(subject))

    async def delivered(self) -> None:
        """Waits until no background delivery runs any more."""
        while tasks := [task for task in self._later.values() if not task.done()]:
            await asyncio.wait(tasks)
            await asyncio.sleep(0)

    async def close(self) -> None:
        """Waits for background deliveries and ends the threads; closes the gate if it is ours."""
        await self.delivered()
        self.bridge.adopt()
        await self.groups.settled()
        self._deliverers.shutdown(wait=False)
        self._callers.shutdown(wait=False)
        self.bridge.close()
        if self.owns_gate:
            await asyncio.to_thread(self.gate.close)

    # --- parts -------------------------------------------------------------------------------

    def _forget_loop(self) -> None:
        """Lets go of everything that waits on a loop that is gone: it would wait for ever."""
        self.groups.forget()
        self.traffic.forget()
        self._running.clear()
        self._lanes.clear()
        self._later.clear()
        self._orphans |= self._at_work

    async def _after_orphans(self) -> None:
        """Lets deliveries that a loop left behind come to their end, and their events be due at
        once: that they failed says nothing of the database."""
        if orphans := set(self._orphans):
            await asyncio.to_thread(wait, orphans, timeout=_ORPHANS_S)
            await self.off_loop(self.gate.ledger.retry_now, self.name)
            self._orphans -= orphans

    async def _deliver_one(self, subject: Subject) -> None:
        await self.deliver(subject)

    def _again(self, subject: Subject) -> None:
        running = self._later.get(subject)
        if running is None or running.done():
            loop = asyncio.get_running_loop()
            self._later[subject] = loop.create_task(self._deliver_one(subject))

    async def _until_free(self, reception: Reception) -> None:
        while (running := self._running.get(reception.anchor)) is not None:
            await running.wait()

    def _done(self, reception: Reception) -> None:
        if (running := self._running.pop(reception.anchor, None)) is not None:
            running.set()

    async def give_up(self, reception: Reception) -> None:
        """Frees the claim of a call that failed, even where the ledger cannot be asked."""
        try:
            if not reception.minted:
                await self.off_loop(answers.release, self.gate.ledger, *reception.anchor, self.name)
        finally:
            self._done(reception)

    def _record(
        self, reception: Reception, answer: JsonObject, links: Sequence[tuple[Subject, NativeLink]]
    ) -> None:
        subject, message_id = reception.anchor
        record = self.gate.ledger.turn(subject, message_id)
        whole = answers.answer_with(record, self.name, answer)
        mine = [link for who, link in links if who == subject]
        self.gate.answered(subject, message_id, whole, mine)
        for other in reception.subjects:
            theirs = [link for who, link in links if who == other]
            if other != subject and theirs:
                with self.gate.ledger.write(other) as tx:
                    for link in theirs:
                        tx.link(link)
