"""What both colours of hosted client share: scopes, judged updates, and steps of deletion."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mem0 import MemoryClient

from memgate_core.errors import ConfigurationError, InvalidTurnError
from memgate_core.gate import MemoryGate
from memgate_core.model import FactStatus, JsonObject
from memgate_mem0.calls import ActiveCall
from memgate_mem0.desk import Desk
from memgate_mem0.gated import GateChoice, opened_gate
from memgate_mem0.hosted_projection import MEMORY_KEY, HostedProjection
from memgate_mem0.payloads import OURS
from memgate_mem0.reception import Reception
from memgate_mem0.scope import ID_NAMES, MemoryScope
from memgate_mem0.taking_back import revoke, revoke_subject


class HostedDesk(Desk):
    """The gate's side of a hosted client."""

    def conclude(self, reception: Reception, result: JsonObject, call: ActiveCall) -> JsonObject:
        """As `Desk.conclude`. What the service extracted is laid on the words it rests on, so that
        its memories are found again when those facts end."""
        texts = [str(row["memory"]) for row in result.get("results") or () if row.get("memory")]
        if texts and not reception.shadow:
            judged = self.gate.judge_extracted(reception.subject, reception.message_ids, texts)
            call.verdicts.update({verdict.text: verdict for verdict in judged})
        return super().conclude(reception, result, call)


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
            tenant=tenant,
            fields=opened.fields,
            reads=opened.asserted,
        )
        self._desk = HostedDesk(opened, projection, tenant=tenant, owns_gate=owns)


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


@dataclass(frozen=True)
class JudgedUpdate:
    """A new text for a stored memory, taken through the gate."""

    desk: Desk
    memory_id: str
    row: Mapping[str, Any]
    reception: Reception

    @property
    def text(self) -> str | None:
        """The words that may stand; None when all of them are held."""
        return self.reception.heard[0].forward

    def changed(self, given: Mapping[str, Any]) -> JsonObject:
        """The update as it is sent; a promotion of the gate's own now carries what it says."""
        sent = {**given, "text": self.text}
        stored = self.row.get("metadata") or {}
        if OURS not in stored:
            return sent
        mine = {OURS: {"fact_id": next(iter(self._facts()), None)}, MEMORY_KEY: None}
        return {**sent, "metadata": {**stored, **(given.get("metadata") or {}), **mine}}

    def refused(self) -> JsonObject:
        """The answer for a text that is held as a whole."""
        held = self.desk.entries(self.reception)
        return {"message": "Memory not updated: held, not yet a fact.", "results": held}

    def keep(self) -> None:
        """Notes what the memory carries now; what it no longer says is revoked."""
        desk, subject = self.desk, self.reception.subject
        before = {fact.fact_id for fact in desk.facts_of(self.memory_id, {})}
        entry = {"id": self.memory_id, "memory": "", "role": "user"}
        desk.conclude(self.reception, {"results": [entry]}, desk.call_for(self.reception))
        ended = [desk.gate.ledger.fact(i) for i in sorted(before - set(self._facts()))]
        current = [f.fact_id for f in ended if f is not None and f.status is FactStatus.CURRENT]
        revoke(desk.gate, subject, current)

    def _facts(self) -> list[str]:
        judged = [j for r in self.reception.receipts for j in r.judged]
        return [j.fact_id for j in judged if j.fact_id is not None]


def judged_update(
    desk: Desk, memory_id: str, row: Mapping[str, Any] | None, text: Any
) -> JudgedUpdate | None:
    """Judges an update's new text; None without one, or for a memory of nobody."""
    scope = MemoryScope.of_payload(row or {})
    if scope is None or not text or row is None:
        return None
    return JudgedUpdate(desk, memory_id, row, desk.receive(text, scope, None, None))


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
