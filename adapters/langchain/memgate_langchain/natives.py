"""How memories lie in a LangGraph store: ids that the ledger keeps, and the values of facts."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langgraph.store.base import PutOp

from memgate_core.model import Fact, JsonObject

_KEYS = uuid.uuid5(uuid.NAMESPACE_URL, "memgate/langgraph/facts")


@dataclass(frozen=True)
class Place:
    """One item's place in a store."""

    namespace: tuple[str, ...]
    key: str

    @property
    def native_id(self) -> str:
        """The place as one string."""
        return json.dumps([*self.namespace, self.key], ensure_ascii=False)

    @classmethod
    def of(cls, native_id: str) -> Place:
        """The place that a native id stands for."""
        *namespace, key = json.loads(native_id)
        return cls(tuple(namespace), key)


def fact_key(fact: Fact) -> str:
    """The key of a fact that no put of the application brought: the same on every delivery."""
    return str(uuid.uuid5(_KEYS, fact.memory_id))


def fact_value(fact: Fact, value: Mapping[str, Any]) -> dict[str, Any]:
    """A value that carries a fact, with its validity and where it comes from."""
    return {
        **value,
        "valid_from": fact.valid_from.isoformat(),
        "valid_to": fact.valid_to.isoformat() if fact.valid_to else None,
        "memgate": {
            "fact_id": fact.fact_id,
            "version": fact.version,
            "attribute": fact.attribute,
            "value": fact.value,
        },
    }


def memory_text(fact: Fact, phrases: Mapping[str, str]) -> str:
    """How a fact reads as a memory: by its field's phrase, else in its own words."""
    phrase = phrases.get(fact.attribute or "")
    if phrase is not None and fact.value is not None:
        return f"User {phrase.format(value=fact.value)}"
    return fact.text


def put_as_json(op: PutOp, path: tuple[str | int, ...]) -> JsonObject:
    """A put that was held, as the ledger keeps it for the day of its promotion."""
    return {
        "namespace": list(op.namespace),
        "key": op.key,
        "value": _plain(op.value),
        "path": list(path),
        "index": op.index,
        "ttl": op.ttl,
    }


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value, default=str))
