"""The ledger's tables, as the statements see them.

The migrations create them (`migrations/*.sql`); a test proves that both agree. Conventions:

- instants are integers, microseconds since 1970-01-01T00:00:00Z: exact, and equal on all backends;
- `body` columns hold the whole pydantic model as JSON and are what reads answer from; the other
  columns exist to be searched and constrained, and are written from the same model;
- every row names its tenant and subject, so that no query needs a join to stay inside a scope;
- partial indexes keep what is searched each turn small: pending items, current facts, due events.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    literal_column,
)

metadata = MetaData()

_Serial = BigInteger().with_variant(Integer, "sqlite")


def _serial(name: str) -> Column[Any]:
    return Column(name, _Serial, primary_key=True, autoincrement=True)


def _text(name: str, *, null: bool = False) -> Column[Any]:
    return Column(name, Text, nullable=null)


def _big(name: str, *, null: bool = False) -> Column[Any]:
    return Column(name, BigInteger, nullable=null)


def _flag(name: str) -> Column[Any]:
    return Column(name, SmallInteger, nullable=False)


def _owner() -> tuple[Column[Any], Column[Any]]:
    return _text("tenant"), _text("subject_id")


def literal(value: str | int) -> Any:
    """A constant inside the SQL text: partial indexes match only on constants."""
    return literal_column(repr(value))


def _index(
    name: str, table: Table, columns: str, *, unique: bool = False, where: Any = None
) -> None:
    chosen = [table.c[column] for column in columns.split()]
    Index(name, *chosen, unique=unique, sqlite_where=where, postgresql_where=where)


subject = Table(
    "memgate_subject",
    metadata,
    *_owner(),
    _text("user_id"),
    _text("actor", null=True),
    _big("first_seen_at"),
    _big("pending"),
    _big("erased_at", null=True),
    PrimaryKeyConstraint("tenant", "subject_id"),
)

turn = Table(
    "memgate_turn",
    metadata,
    _serial("turn_no"),
    *_owner(),
    _text("message_id"),
    _text("session", null=True),
    _text("role"),
    _text("speaker", null=True),
    _text("source"),
    _text("taint"),
    _text("text"),
    _text("text_sha256"),
    _big("occurred_at"),
    _big("recorded_at"),
    _text("receipt"),
    _text("answer", null=True),
    UniqueConstraint("tenant", "subject_id", "message_id", name="memgate_turn_once"),
)
_index("memgate_turn_by_session", turn, "tenant subject_id session occurred_at turn_no")

proposal = Table(
    "memgate_proposal",
    metadata,
    _serial("proposal_no"),
    *_owner(),
    _text("proposal_id"),
    _text("payload_hash"),
    _text("message_id"),
    _text("status"),
    _text("policy_version"),
    _text("staged_id", null=True),
    _text("fact_id", null=True),
    _big("recorded_at"),
    _text("body"),
    UniqueConstraint("proposal_id", "tenant", name="memgate_proposal_once"),
)
_index("memgate_proposal_by_message", proposal, "tenant subject_id message_id")

fact_key = Table(
    "memory_fact_key",
    metadata,
    *_owner(),
    _text("scope_kind"),
    _text("scope_key"),
    _text("kind"),
    _text("normalized_key"),
    _big("version"),
    PrimaryKeyConstraint(
        "tenant", "subject_id", "scope_kind", "scope_key", "kind", "normalized_key"
    ),
    sqlite_with_rowid=False,
)

fact = Table(
    "memgate_fact",
    metadata,
    _serial("fact_no"),
    *_owner(),
    _text("fact_id"),
    _big("version"),
    _text("key_id"),
    _text("attribute", null=True),
    _text("status"),
    _flag("native"),
    _big("valid_from"),
    _big("valid_to", null=True),
    _big("expires_at", null=True),
    _text("body"),
    UniqueConstraint("fact_id", "version", name="memgate_fact_once"),
    CheckConstraint("valid_to IS NULL OR valid_to >= valid_from", name="memgate_fact_interval"),
)
_index(
    "memgate_fact_one_current",
    fact,
    "key_id",
    unique=True,
    where=fact.c.status == literal("CURRENT"),
)
_index("memgate_fact_by_subject", fact, "tenant subject_id status valid_from")
_index("memgate_fact_awaiting_native", fact, "tenant subject_id", where=fact.c.native == literal(0))
_index("memgate_fact_expiring", fact, "expires_at", where=fact.c.expires_at.is_not(None))

lineage = Table(
    "memgate_lineage",
    metadata,
    *_owner(),
    _text("parent"),
    _text("child"),
    PrimaryKeyConstraint("tenant", "subject_id", "parent", "child"),
    sqlite_with_rowid=False,
)

staged = Table(
    "memgate_staged",
    metadata,
    _serial("staged_no"),
    *_owner(),
    _text("staged_id"),
    _text("key_id"),
    _text("status"),
    _text("session", null=True),
    _big("created_at"),
    _big("last_stated_at"),
    _big("review_at", null=True),
    _text("terms"),
    _text("body"),
    UniqueConstraint("staged_id", name="memgate_staged_once"),
)
_PENDING = staged.c.status == literal("PENDING")
_index("memgate_staged_by_time", staged, "tenant subject_id created_at")
_index(
    "memgate_staged_newest", staged, "tenant subject_id last_stated_at staged_no", where=_PENDING
)
_index(
    "memgate_staged_newest_in_session",
    staged,
    "tenant subject_id session last_stated_at staged_no",
    where=_PENDING,
)
_index("memgate_staged_on_key", staged, "key_id created_at", where=_PENDING)
_index("memgate_staged_oldest", staged, "created_at", where=_PENDING)
_index(
    "memgate_staged_review", staged, "review_at", where=_PENDING & staged.c.review_at.is_not(None)
)

staged_term = Table(
    "memgate_staged_term",
    metadata,
    *_owner(),
    _text("term"),
    _big("staged_no"),
    PrimaryKeyConstraint("tenant", "subject_id", "term", "staged_no"),
    sqlite_with_rowid=False,
)

event = Table(
    "memgate_event",
    metadata,
    _serial("seq"),
    *_owner(),
    _text("event_type"),
    _text("staged_id", null=True),
    _text("fact_id", null=True),
    _big("occurred_at"),
    _big("recorded_at"),
    _text("session", null=True),
    _text("policy_version"),
    _text("staged", null=True),
    _text("fact", null=True),
)
_index("memgate_event_by_subject", event, "tenant subject_id seq")

projection = Table(
    "memgate_projection",
    metadata,
    _text("name"),
    _big("registered_at"),
    _flag("active"),
    PrimaryKeyConstraint("name"),
)

outbox = Table(
    "memgate_outbox",
    metadata,
    _text("projection"),
    _big("seq"),
    *_owner(),
    _text("topic"),
    _text("status"),
    _big("attempts"),
    _text("error", null=True),
    _big("settled_at", null=True),
    PrimaryKeyConstraint("seq", "projection"),
    sqlite_with_rowid=False,
)
_WAITING = outbox.c.status == literal("DUE")
_STUCK = outbox.c.status.in_([literal("PARKED"), literal("BLOCKED")])
_index("memgate_outbox_due", outbox, "projection tenant subject_id seq", where=_WAITING)
_index("memgate_outbox_stuck", outbox, "tenant subject_id topic projection seq", where=_STUCK)

_index(
    "memgate_outbox_parked", outbox, "seq projection", where=outbox.c.status == literal("PARKED")
)
_index("memgate_outbox_errors", outbox, "tenant subject_id", where=outbox.c.error.is_not(None))

lane = Table(
    "memgate_outbox_lane",
    metadata,
    _text("projection"),
    *_owner(),
    _big("head_seq", null=True),
    _big("next_try_at"),
    _text("leased_by", null=True),
    _big("leased_until"),
    _big("leased_through"),
    PrimaryKeyConstraint("projection", "tenant", "subject_id"),
)
_index("memgate_outbox_lane_due", lane, "projection head_seq", where=lane.c.head_seq.is_not(None))
_index("memgate_outbox_lane_leased", lane, "leased_by", where=lane.c.leased_by.is_not(None))

native_link = Table(
    "memgate_native_link",
    metadata,
    _text("projection"),
    _text("native_id"),
    *_owner(),
    _text("message_id", null=True),
    _text("body"),
    PrimaryKeyConstraint("projection", "native_id"),
)
_index("memgate_native_link_by_subject", native_link, "tenant subject_id projection message_id")

native_item = Table(
    "memgate_native_item",
    metadata,
    _text("projection"),
    _text("item_id"),
    _text("native_id"),
    PrimaryKeyConstraint("projection", "item_id", "native_id"),
    sqlite_with_rowid=False,
)

approval = Table(
    "memgate_approval",
    metadata,
    _serial("approval_no"),
    *_owner(),
    _text("approval_id"),
    _text("proposal_id"),
    _text("payload_hash"),
    _text("status"),
    _big("expires_at", null=True),
    _text("body"),
    UniqueConstraint("approval_id", name="memgate_approval_once"),
)
_index("memgate_approval_by_subject", approval, "tenant subject_id approval_no")
_index("memgate_approval_by_proposal", approval, "proposal_id")
_index("memgate_approval_by_status", approval, "status approval_no")

counter = Table(
    "memgate_counter",
    metadata,
    _text("name"),
    _text("policy_version"),
    _flag("shard"),
    _big("value"),
    PrimaryKeyConstraint("name", "policy_version", "shard"),
)

state = Table(
    "memgate_state",
    metadata,
    _text("name"),
    _big("revision"),
    _text("body"),
    PrimaryKeyConstraint("name"),
)

audit = Table(
    "memgate_audit",
    metadata,
    _serial("audit_no"),
    _big("at"),
    _text("tenant", null=True),
    _text("subject_id", null=True),
    _text("action"),
    _text("target"),
    _text("done_by"),
    _text("detail", null=True),
)
_index("memgate_audit_by_subject", audit, "tenant subject_id audit_no")
_index("memgate_audit_by_target", audit, "target audit_no")

migration = Table(
    "memgate_migration",
    metadata,
    _big("version"),
    _text("name"),
    _big("applied_at"),
    PrimaryKeyConstraint("version"),
)
