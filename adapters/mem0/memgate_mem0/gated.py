"""What both colours of gated memory share: the wrapped parts, the gate, and how it is opened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from memgate_core.errors import ConfigurationError, InvalidInputError
from memgate_core.gate import MemoryGate
from memgate_mem0.scope import check_storable
from memgate_mem0.store_desk import StoreDesk

GateChoice = MemoryGate | str | None
"""A gate, the url of a ledger to open one on, or None for `sqlite:///memgate.db`."""

_PROCEDURAL = "procedural_memory"


class Gated:
    """Mixed into a Mem0 memory class, before it.

    Mem0 finds its LLM and its vector store through this object. During one of our add calls it
    finds them judged and noting; at any other time, and for everyone else, they are the very
    objects that the user configured.
    """

    _desk: StoreDesk | None = None

    @property
    def vector_store(self) -> Any:
        """The wrapped vector store."""
        real = self.__dict__["vector_store"]
        return real if self._desk is None else self._desk.store_of(real)

    @vector_store.setter
    def vector_store(self, store: Any) -> None:
        self.__dict__["vector_store"] = store

    @property
    def llm(self) -> Any:
        """The wrapped LLM."""
        real = self.__dict__["llm"]
        return real if self._desk is None else self._desk.llm_of(real)

    @llm.setter
    def llm(self, llm: Any) -> None:
        self.__dict__["llm"] = llm

    @property
    def desk(self) -> StoreDesk:
        """The gate's side of this memory."""
        if self._desk is None:
            raise ConfigurationError("this memory has no gate yet")
        return self._desk

    @property
    def gate(self) -> MemoryGate:
        """The gate: profile, review, ledger."""
        return self.desk.gate

    def open_desk(self, gate: GateChoice, tenant: str) -> None:
        """Puts this memory behind a gate.

        Raises:
            ConfigurationError: an unusable url. LedgerError: no ledger there.
        """
        opened, owns = opened_gate(gate)
        self._desk = StoreDesk(self, opened, tenant=tenant, owns_gate=owns)


def check_metadata(metadata: Any) -> None:
    """Refuses metadata that Mem0 would stumble over once the gate has judged the words.

    Raises:
        InvalidInputError: it is no mapping. InvalidTurnError: a text in it that no store can keep.
    """
    if metadata is not None and not isinstance(metadata, Mapping):
        raise InvalidInputError(f"metadata must be a dict, not {type(metadata).__name__}")
    for where, text in _texts("metadata", metadata):
        check_storable(where, text)


def _texts(where: str, value: Any) -> Iterator[tuple[str, str]]:
    """Every text within a JSON-like value, with the place where it stands."""
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from _texts(f"{where} key", key)
            yield from _texts(f"{where}[{key!r}]", part)
    elif isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        for at, part in enumerate(value):
            yield from _texts(f"{where}[{at}]", part)


def mem0_refuses(timestamp: Any, expiration_date: Any, memory_type: str | None) -> bool:
    """True for arguments that Mem0 refuses before it touches anything.

    Such a call goes to Mem0 at once, so that its own error is raised and the gate records nothing.
    """
    if timestamp is not None or memory_type not in (None, _PROCEDURAL):
        return True
    if isinstance(expiration_date, str):
        try:
            date.fromisoformat(expiration_date)
        except ValueError:
            return True
        return False
    return expiration_date is not None and not isinstance(expiration_date, date)


def opened_gate(gate: GateChoice) -> tuple[MemoryGate, bool]:
    """The gate that was chosen, and whether it was opened here (then it is closed here too).

    Raises:
        ConfigurationError: something else, or an unusable url. LedgerError: no ledger there.
    """
    if isinstance(gate, MemoryGate):
        return gate, False
    if gate is None:
        return MemoryGate.open(), True
    if not isinstance(gate, str):
        found = type(gate).__name__
        raise ConfigurationError(f"gate must be a MemoryGate, a ledger url or None, not {found}")
    return MemoryGate.open(gate), True
