"""What the gate's own edges and held items look like in the graph: ids, names, sentences."""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from graphiti_core.edges import EntityEdge

from memgate_core.model import USER_ENTITY, Fact, FieldSpec, StagedItem

PLAN = "held, not yet a fact: "
"""How a held item is labelled wherever it is shown."""

OURS = "memgate_fact_id"
"""The property by which an edge of the gate's own is known."""

MADE = "memgate_made"
"""The property of an entity node that the gate made, since none was there to be reused."""

_NAMESPACE = uuid.UUID("0e7ac7e2-2a39-5a3c-9d0c-7f3f4a3f6a61")
_SMALL_WORDS = "a an the my our your his her their its this that to of in on at for with"
_STOP = frozenset(_SMALL_WORDS.split())
_LONGEST_NAME = 120


@dataclass(frozen=True)
class Triple:
    """A fact as a graph holds it: between two named things."""

    source: str
    relation: str
    target: str
    sentence: str


def edge_uuid(projection: str, group_id: str, fact: Fact) -> str:
    """The uuid of the edge that the gate writes for a fact version; the same on every delivery."""
    return str(uuid.uuid5(_NAMESPACE, f"{projection}/{group_id}/edge/{fact.memory_id}"))


def entity_uuid(projection: str, group_id: str, name: str) -> str:
    """The uuid of an entity node that the gate has to make."""
    return str(uuid.uuid5(_NAMESPACE, f"{projection}/{group_id}/entity/{plain(name)}"))


def episode_uuid(projection: str, group_id: str, key: str) -> str:
    """The uuid that an episode which is never stored shows in a result."""
    return str(uuid.uuid5(_NAMESPACE, f"{projection}/{group_id}/episode/{key}"))


def native_id(group_id: str, kind: str, uuid_: str) -> str:
    """The id under which the ledger knows a thing in the graph; it says which group it is in."""
    return f"{group_id}/{kind}/{uuid_}"


def parts_of(native: str) -> tuple[str, str, str]:
    """(group, kind, uuid) of a native id; the kinds are edge, episode and staged."""
    group_id, kind, uuid_ = native.rsplit("/", 2)
    return group_id, kind.partition(".")[0], uuid_


def triple_of(fact: Fact, subject_name: str, fields: Sequence[FieldSpec]) -> Triple:
    """The fact between the person it is about and the value, or what it is about.

    Where there is nothing to point at, it points back at the person: Graphiti's own prompts allow
    such facts of one entity.
    """
    source = subject_name if fact.entity == USER_ENTITY else fact.entity
    said = _said(fact, fields)
    target = fact.value if fact.value is not None else _object_of(fact)
    return Triple(
        source=source,
        relation=_relation(fact, said),
        target=(target or source)[:_LONGEST_NAME],
        sentence=sentence(said, source),
    )


def sentence(said: str, name: str) -> str:
    """A realised text as a sentence: "lives in Seattle" -> "User lives in Seattle"."""
    text = said.strip()
    if text[:1].islower():
        text = f"{name} {text}"
    return text[:1].upper() + text[1:]


def edge_of(
    fact: Fact, triple: Triple, uuid_: str, group_id: str, nodes: Sequence[str]
) -> EntityEdge:
    """The native edge of a fact, valid over the fact's own interval."""
    return EntityEdge(
        uuid=uuid_,
        group_id=group_id,
        source_node_uuid=nodes[0],
        target_node_uuid=nodes[1],
        name=triple.relation,
        fact=triple.sentence,
        episodes=[],
        created_at=fact.recorded_at,
        valid_at=fact.valid_from,
        invalid_at=fact.valid_to,
        expired_at=fact.closed_at,
        reference_time=fact.valid_from,
        attributes=provenance(fact),
    )


def staged_properties(item: StagedItem, group_id: str, name: str) -> dict[str, Any]:
    """The properties of a held item's node. None is called uuid, name or group_id: nothing that
    Graphiti looks up by those can meet it."""
    about = {
        "staged_id": item.staged_id,
        "memgate_group": group_id,
        "memgate_actor": item.key.subject.actor,
        "text": PLAN + sentence(item.text, name if item.entity == USER_ENTITY else item.entity),
        "words": item.words,
        "attribute": item.attribute,
        "value": item.value,
        "held_as": item.held_as.value,
        "promote_when": item.promote_when,
        "discard_when": item.discard_when,
        "times_stated": item.times_stated,
        "message_id": item.evidence.message_id,
        "stated_at": _iso(item.created_at),
        "last_stated_at": _iso(item.last_stated_at),
        "review_at": _iso(item.review_at),
    }
    return {name: value for name, value in about.items() if value is not None}


def provenance(fact: Fact) -> dict[str, Any]:
    """What an edge says of the fact it carries: on which words it rests, and who approved it."""
    about = {
        OURS: fact.fact_id,
        "memgate_version": fact.version,
        "memgate_attribute": fact.attribute,
        "memgate_value": fact.value,
        "memgate_message_id": fact.evidence.message_id,
        "memgate_span": f"{fact.evidence.start}:{fact.evidence.end}",
        "memgate_sha256": fact.evidence.sha256,
        "memgate_approved_by": fact.approved_by,
        "memgate_supersedes": fact.supersedes,
    }
    return {name: value for name, value in about.items() if value is not None}


def plain(text: str) -> str:
    """A name as it is compared: without case and surplus space."""
    return " ".join(text.casefold().split())


def _said(fact: Fact, fields: Sequence[FieldSpec]) -> str:
    """The fact in the third person: a promotion's own text, or a field's phrase with the value."""
    if fact.attribute is not None and fact.value is not None and fact.text == fact.words:
        spec = next((f for f in fields if f.attribute == fact.attribute), None)
        if spec is not None and spec.phrase:
            return spec.phrase.format(value=fact.value)
    return fact.text


def _relation(fact: Fact, said: str) -> str:
    """LIVES_IN for "lives in Seattle", else the attribute, else the predicate of the open key."""
    at = said.casefold().find(fact.value.casefold()) if fact.value else -1
    before = said[:at].split() if at > 0 else []
    if 0 < len(before) <= 4:
        return _screaming("_".join(before))
    if fact.attribute is not None:
        return fact.attribute.upper()
    parts = _key_parts(fact)
    return _screaming(parts[-2] if len(parts) > 1 else parts[0])


def _object_of(fact: Fact) -> str | None:
    """What an open fact is about, as its words name it: "allotment lease"."""
    parts = _key_parts(fact)
    if len(parts) < 2:
        return None
    head = parts[-1].replace("-", " ")
    words = re.findall(r"[\w'’-]+", fact.text)
    at = next((i for i, word in enumerate(words) if plain(word).startswith(head)), None)
    if at is None:
        return head
    start = at
    while start > 1 and words[start - 1].casefold() not in _STOP and at - start < 3:
        start -= 1
    return " ".join(words[start : at + 1])


def _key_parts(fact: Fact) -> list[str]:
    return fact.key.normalized_key.split("@")[0].split(":")


def _screaming(text: str) -> str:
    return re.sub(r"\W+", "_", text).strip("_").upper() or "RELATES_TO"


def _iso(at: datetime | None) -> str | None:
    return at.isoformat() if at is not None else None
