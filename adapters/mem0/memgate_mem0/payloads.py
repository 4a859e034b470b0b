"""What the gate's own memories look like in Mem0: deterministic ids, readable text, metadata."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from mem0.utils.lemmatization import lemmatize_for_bm25

from memgate_core.model import USER_ENTITY, Fact, StagedItem

OURS = "memgate"
"""The metadata key under which the gate says what a memory carries."""

PLAN = "held, not yet a fact: "
"""How a held item is labelled wherever it is shown."""

_NAMESPACE = uuid.UUID("6f0f6a5e-3f5d-5a5e-9a86-5d0c6a3c2f10")


def promoted_id(projection: str, fact: Fact) -> str:
    """The native id of a fact version that the gate writes itself; the same on every delivery."""
    return str(uuid.uuid5(_NAMESPACE, f"{projection}:fact:{fact.memory_id}"))


def staged_native_id(projection: str, staged_id: str) -> str:
    """The native id of a held item in the staging collection."""
    return str(uuid.uuid5(_NAMESPACE, f"{projection}:staged:{staged_id}"))


def part_id(native_id: str, fact_id: str) -> str:
    """The native id of the closed part of a memory that also carries current facts."""
    return str(uuid.uuid5(_NAMESPACE, f"part:{native_id}:{fact_id}"))


def readable(text: str, entity: str) -> str:
    """A realised text as a memory sentence: "lives in Seattle" -> "User lives in Seattle"."""
    said = text.strip()
    if entity == USER_ENTITY and said[:1].islower():
        return f"User {said}"
    return said[:1].upper() + said[1:]


def fact_text(fact: Fact, phrases: Mapping[str, str]) -> str:
    """How a fact reads as a memory: by its field's phrase where there is one."""
    phrase = phrases.get(fact.attribute or "")
    if phrase is None or fact.value is None:
        return readable(fact.text, fact.entity)
    return readable(phrase.format(value=fact.value), fact.entity)


def fact_payload(fact: Fact, text: str, ids: Mapping[str, str]) -> dict[str, Any]:
    """The payload of a fact that the gate writes into the main collection, reading `text`, of the
    scope that `ids` name."""
    at = fact.recorded_at.isoformat()
    about = {
        OURS: {
            "fact_id": fact.fact_id,
            "version": fact.version,
            "attribute": fact.attribute,
            "value": fact.value,
        },
        "valid_from": fact.valid_from.isoformat(),
    }
    return {**about, **ids, "role": "user", **worded(text), "created_at": at, "updated_at": at}


def staged_payload(item: StagedItem, ids: Mapping[str, str]) -> dict[str, Any]:
    """The payload of a held item in the staging collection."""
    text = PLAN + readable(item.text, item.entity)
    about = {
        OURS: {
            "staged_id": item.staged_id,
            "attribute": item.attribute,
            "value": item.value,
            "held_as": item.held_as.value,
            "promote_when": item.promote_when,
            "discard_when": item.discard_when,
            "times_stated": item.times_stated,
            "review_at": _iso(item.review_at),
        }
    }
    times = {"created_at": _iso(item.created_at), "updated_at": _iso(item.last_stated_at)}
    return {**about, **ids, **worded(text), **times}


def closed_payload(payload: Mapping[str, Any], fact: Fact) -> dict[str, Any]:
    """The payload of a superseded memory: what it was, and when it held."""
    ours = payload.get(OURS) or {"attribute": fact.attribute, "value": fact.value}
    return {
        **payload,
        OURS: {**ours, "fact_id": fact.fact_id},
        "valid_from": fact.valid_from.isoformat(),
        "valid_to": _iso(fact.valid_to),
    }


def worded(text: str) -> dict[str, Any]:
    """The payload keys in which Mem0 keeps a memory's words."""
    return {
        "data": text,
        "hash": hashlib.md5(text.encode()).hexdigest(),
        "text_lemmatized": lemmatize_for_bm25(text),
    }


def fact_id_in(payload: Mapping[str, Any]) -> str | None:
    """The fact that one of the gate's own memories carries; None for any other memory."""
    ours = payload.get(OURS)
    found = ours.get("fact_id") if isinstance(ours, Mapping) else None
    return found if isinstance(found, str) else None


def _iso(at: datetime | None) -> str | None:
    return at.isoformat() if at is not None else None
