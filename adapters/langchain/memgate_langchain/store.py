"""`GatedStore`: any LangGraph store, with the gate at the one point that all traffic passes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from langgraph.store.base import BaseStore, Op, PutOp, Result

from memgate_core.errors import ConfigurationError
from memgate_core.gate import MemoryGate
from memgate_core.model import FactStatus, NativeLink, Subject
from memgate_core.profile import Profile
from memgate_core.projection import DeliveryReport
from memgate_langchain.namespaces import Namespaces
from memgate_langchain.natives import Place
from memgate_langchain.projection import LangGraphProjection
from memgate_langchain.puts import (
    Clock,
    JudgedPut,
    KeptBack,
    PutJudge,
    WhoseWords,
    Writer,
    now,
)
from memgate_langchain.revoking import revoke
from memgate_langchain.writing import current_writing

_PASSED_ON = frozenset(
    {
        "conn",
        "embeddings",
        "index_config",
        "setup",
        "start_ttl_sweeper",
        "stop_ttl_sweeper",
        "sweep_ttl",
    }
)
"""What concrete stores offer besides reads and writes. A name that is not here is not offered, so
that a new way of writing cannot pass by the gate."""


class GatedStore(BaseStore):
    """Holds puts that say what is not true yet; everything else is the wrapped store's.

    Get, search, list, TTL, index options and the order of results are those of `store`. A held put
    is found by no read; when it comes true, it is put with `valid_from` and `valid_to`, under the
    key and in the shape that it was meant to have.

        store = GatedStore(InMemoryStore(), gate)
        graph = builder.compile(store=store)
    """

    def __init__(
        self,
        store: BaseStore,
        gate: MemoryGate | str,
        *,
        namespaces: Namespaces | None = None,
        writer: WhoseWords = Writer.MODEL,
        clock: Clock = now,
        text_field: str = "text",
        name: str = "langgraph:store",
        on_kept_back: Callable[[KeptBack], None] | None = None,
    ) -> None:
        """`gate`: a gate, or the url of a ledger. `namespaces`: whose memory a namespace is.
        `writer`: whose words puts are outside an agent's tool calls, or a function that says it
        of each put. `clock`: when they are said.
        `on_kept_back`: told of every put, or part of one, that was not stored.

        Raises:
            ConfigurationError: the store is gated already. LedgerError: no ledger at the url.
        """
        super().__init__()
        if isinstance(store, GatedStore):
            raise ConfigurationError("the store is gated already")
        self.store = store
        self.gate = MemoryGate.open(gate) if isinstance(gate, str) else gate
        self.namespaces = namespaces or Namespaces()
        self.supports_ttl, self.ttl_config = store.supports_ttl, store.ttl_config
        self.projection = LangGraphProjection(
            store,
            self.gate.ledger,
            namespaces=self.namespaces,
            fields=self.gate.fields,
            text_field=text_field,
            name=name,
        )
        self.gate.attach(self.projection)
        self._judge = PutJudge(self.gate, self.namespaces, writer=writer, clock=clock)
        self._on_kept_back = on_kept_back

    # --- the point that all traffic passes ----------------------------------------------------

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """LangGraph's `batch`, with every put taken through the gate first, in order.

        Raises:
            MemgateError: a put that cannot be judged; nothing of the batch was stored.
            Exception: whatever the wrapped store raises; the batch may be repeated.
        """
        batch = _Batch(ops)
        batch.judge(self._judge)
        results = batch.results(self.store.batch(batch.ops_to_run()))
        for subject in self._settle(batch):
            self.gate.deliver(subject=subject)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """As `batch`. Judging runs in the gate's executor: the event loop never waits."""
        batch = _Batch(ops)
        if batch.puts:
            await self.gate.off_loop(batch.judge, self._judge)
        results = batch.results(await self.store.abatch(batch.ops_to_run()))
        if batch.puts:
            for subject in await self.gate.off_loop(self._settle, batch):
                await self.gate.adeliver(subject=subject)
        return results

    # --- what the ledger adds -------------------------------------------------------------------

    def profile(self, namespace: Sequence[str]) -> Profile:
        """Facts now and as of a time, their history, and plans (labelled as such) of the subject
        that a namespace belongs to."""
        return self.gate.profile(self.namespaces.subject_of(namespace))

    def deliver(self) -> list[DeliveryReport]:
        """Carries everything that is due into the store (also what other processes decided)."""
        return self.gate.deliver()

    def __getattr__(self, name: str) -> Any:
        if name in _PASSED_ON:
            return getattr(self.store, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    # --- after the wrapped store's own batch ----------------------------------------------------

    def _settle(self, batch: _Batch) -> list[Subject]:
        """Links what was stored, takes back what was deleted; returns whose events are due."""
        subjects = []
        for judged in batch.writes:
            if judged.subject is None:
                continue
            subjects.append(judged.subject)
            self._note(judged)
            if judged.given.value is None:
                self._deleted(judged.given, judged.subject)
            elif judged.op is not None:
                self._link(judged, judged.op, judged.subject)
        return list(dict.fromkeys(subjects))

    def _note(self, judged: JudgedPut) -> None:
        writing = current_writing()
        for kept in judged.kept_back:
            if writing is not None:
                writing.kept_back.append(kept.reason)
            if self._on_kept_back is not None:
                self._on_kept_back(kept)

    def _link(self, judged: JudgedPut, op: PutOp, subject: Subject) -> None:
        place = Place(op.namespace, op.key)
        gone = self._carried_alone(place) - set(judged.fact_ids)
        link = NativeLink(
            projection=self.projection.name,
            native_id=place.native_id,
            fact_ids=judged.fact_ids,
            message_id=judged.message_id,
            text=judged.text,
        )
        with self.gate.ledger.write(subject) as tx:
            tx.link(link)
        revoke(self.gate, subject, sorted(gone))

    def _deleted(self, op: PutOp, subject: Subject) -> None:
        place = Place(op.namespace, op.key)
        gone = self._carried_alone(place)
        with self.gate.ledger.write(subject) as tx:
            tx.unlink(self.projection.name, place.native_id)
        revoke(self.gate, subject, sorted(gone))
        if self._judge.writer_of(op) is Writer.USER:
            self._discard_held(op, subject)

    def _carried_alone(self, place: Place) -> set[str]:
        """Facts that hold and that no other item carries: without this one they are forgotten."""
        ledger, name = self.gate.ledger, self.projection.name
        links = ledger.links(name, native_id=place.native_id)
        return {
            fact_id
            for link in links
            for fact_id in link.fact_ids
            if self._holds(fact_id)
            and all(
                other.native_id == place.native_id for other in ledger.links(name, fact_id=fact_id)
            )
        }

    def _holds(self, fact_id: str) -> bool:
        fact = self.gate.ledger.fact(fact_id)
        return fact is not None and fact.status is FactStatus.CURRENT

    def _discard_held(self, op: PutOp, subject: Subject) -> None:
        """The application deletes a key whose put is still held: the plan goes with it."""
        for item in self.gate.profile(subject).staged():
            record = self.gate.ledger.turn(subject, item.evidence.message_id)
            held = ((record.answer if record else None) or {}).get("langgraph") or {}
            if (held.get("namespace"), held.get("key")) == (list(op.namespace), op.key):
                self.gate.review.discard(
                    item.staged_id, by=self.projection.name, reason="its key was deleted"
                )


class _Batch:
    """The ops of one call, in the caller's order."""

    def __init__(self, ops: Iterable[Op]) -> None:
        self._ops = list(ops)
        self.writes: list[JudgedPut] = []
        """The puts and deletes, judged."""
        self._places: list[int] = []

    @property
    def puts(self) -> bool:
        """True when there is something to judge or to take back."""
        return any(isinstance(op, PutOp) for op in self._ops)

    def judge(self, judge: PutJudge) -> None:
        """Takes every put through the gate."""
        self.writes = [judge.judge(op) for op in self._ops if isinstance(op, PutOp)]

    def ops_to_run(self) -> list[Op]:
        """What the wrapped store gets."""
        writes = iter(self.writes)
        run: list[Op] = []
        for index, op in enumerate(self._ops):
            goes = next(writes).op if isinstance(op, PutOp) else op
            if goes is not None:
                self._places.append(index)
                run.append(goes)
        return run

    def results(self, found: Sequence[Result]) -> list[Result]:
        """The wrapped store's results, each at its op's place; None for what was kept back."""
        results: list[Result] = [None] * len(self._ops)
        for place, result in zip(self._places, found, strict=True):
            results[place] = result
        return results
