"""What both colours of hosted client share: scopes, judged updates, and steps of deletion."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from mem0 import MemoryClient

from memgate_core.errors import ConfigurationError, InvalidTurnError
from memgate_core.gate import MemoryGate
from memgate_core.model import JsonObject
from memgate_mem0.desk import Desk
from memgate_mem0.gated import GateChoice, opened_gate
from memgate_mem0.hosted_projection import HostedProjection
from memgate_mem0.reception import Reception
from memgate_mem0.scope import ID_NAMES, MemoryScope
from memgate_mem0.taking_back import revoke, revoke_subject


class Hosted:
    """Mixed into a hosted client class, before it."""

    _desk: Desk | None = None

    @property
    def desk(self) -> Desk:
        """The gate's side of this client."""
        if self._desk is None:
            raise ConfigurationError("this client has no gate yet")
        return self._desk

    @property
    def gate(self) -> MemoryGate:
        """The gate: profile, review, ledger. Held items are read there."""
        return self.desk.gate

    def open_hosted_desk(self, plain: Any, gate: GateChoice, tenant: str) -> None:
        """Puts the client behind a gate; `plain` is an ungated sync client on the same project.

        Raises:
            ConfigurationError: an unusable url. LedgerError: no ledger there.
        """
        opened, owns = opened_gate(gate)
        projection = HostedProjection(
            plain,
            opened.ledger,
            project_name(plain),
            fields=opened.fields,
            reads=opened.asserted,
        )
        self._desk = Desk(opened, projection, tenant=tenant, owns_gate=owns)


def project_name(client: Any) -> str:
    """The projection's name: host and project, or a hash of the key where none is named."""
    key = hashlib.sha256(str(client.api_key).encode()).hexdigest()[:12]
    return f"mem0-hosted:{client.host}:{client.project_id or key}"


def plain_client(client: Any, http: Any) -> Any:
    """An ungated sync client with the same key and project over another HTTP client."""
    plain = MemoryClient.__new__(MemoryClient)
    for part in ("api_key", "host", "org_id", "project_id", "user_id", "user_email"):
        setattr(plain, part, getattr(client, part))
    plain.client = http
    return plain


def merged_options(options: Any, kwargs: Mapping[str, Any]) -> JsonObject:
    """A call's options as the service gets them: typed ones, then plain ones."""
    return {**(options.model_dump(exclude_unset=True) if options else {}), **kwargs}


def scope_of_options(options: Mapping[str, Any]) -> MemoryScope | None:
    """The ids of a call, given plainly or within its filters."""
    inside = MemoryScope.of_filters(options.get("filters"))
    ids = inside.ids if inside is not None else {}
    plain = {name: options[name] for name in ID_NAMES if options.get(name)}
    found = {**ids, **plain}
    if not found:
        return None
    return MemoryScope.of_call(*(found.get(name) for name in ID_NAMES))


def scope_for_add(options: Mapping[str, Any]) -> MemoryScope:
    """The scope of an add call.

    Raises:
        InvalidTurnError: no user, agent or run is named.
    """
    scope = scope_of_options(options)
    if scope is None:
        raise InvalidTurnError("subject.user_id", "is missing", hint="say whose memory this is")
    return scope


def dated(options: JsonObject, occurred_at: datetime | None) -> JsonObject:
    """The options with the turn's own time, in the service's own argument (Unix seconds)."""
    if occurred_at is None or options.get("timestamp") is not None:
        return options
    return {**options, "timestamp": int(occurred_at.timestamp())}


def judged_text(
    desk: Desk, row: Mapping[str, Any] | None, text: str, message_id: str | None = None
) -> Reception | None:
    """A new text for a stored memory, taken through the gate; None for a memory of nobody."""
    scope = MemoryScope.of_payload(row or {})
    return None if scope is None else desk.receive(text, scope, message_id, None)


def refused(desk: Desk, reception: Reception) -> JsonObject:
    """The answer for a text that is held as a whole."""
    held = desk.entries(reception)
    return {"message": "Memory not updated: held, not yet a fact.", "results": held}


def keep_link(desk: Desk, memory_id: str, reception: Reception, answer: JsonObject) -> None:
    """Notes what an updated memory carries now; what it carried and no longer says is revoked."""
    call = desk.call_for(reception)
    entry = {"id": memory_id, "memory": "", "role": "user"}
    before = {fact.fact_id for fact in desk.facts_of(memory_id, {})}
    desk.conclude(reception, {**answer, "results": [entry]}, call)
    now = {judged.fact_id for r in reception.receipts for judged in r.judged}
    revoke(desk.gate, reception.subject, sorted(before - now))


def take_back(desk: Desk, memory_ids: Sequence[str]) -> None:
    """Revokes the facts that deleted memories carried."""
    for memory_id in memory_ids:
        for fact in desk.facts_of(memory_id, {}):
            revoke(desk.gate, fact.key.subject, [fact.fact_id])


def take_back_scope(desk: Desk, scope: MemoryScope | None) -> None:
    """Revokes everything of a scope's subject, or of the tenant where no scope is named."""
    whose = (
        desk.gate.ledger.subjects(desk.tenant) if scope is None else [scope.subject(desk.tenant)]
    )
    for subject in whose:
        revoke_subject(desk.gate, subject)
