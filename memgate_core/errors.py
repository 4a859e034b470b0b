"""Every error that AgentMemGate raises on purpose.

    MemgateError
    ├── InvalidInputError          what the caller gave is malformed; nothing was written
    │   ├── InvalidTurnError       a turn that cannot be identified or stored
    │   ├── InvalidRecordError     a line of a file: names file, line and key
    │   └── ConfigurationError     settings, field catalogues, policies
    ├── NotFoundError              no such staged item, fact, proposal, turn
    ├── NotAllowedError            the item exists but this step is not open to it or to this caller
    │   └── ApprovalError          an approval that is void, blanket, expired, or not a person's
    ├── ProtocolConflictError      same identity, other payload: never a silent approval
    ├── LedgerError                the ledger could not be read or written; nothing half-written
    │   └── LedgerBusyError        locked for longer than the timeout; the same call may be retried
    ├── ModelFaultError            a model backend failed, refused, or answered nonsense
    ├── ProjectionError            a framework's store did not take a write; it is delivered later
    └── OutputError                a result could not be written: the disk is full, the reader gone

Each message names what was wrong, where, and what to do. No message holds a user's words:
`where` and ids are safe to log.
"""

from __future__ import annotations

from pathlib import Path


class MemgateError(Exception):
    """Base of the family. `hint` says what the reader can do about it."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message if hint is None else f"{message} ({hint})")
        self.hint = hint


class InvalidInputError(MemgateError):
    """What the caller gave is malformed. Nothing was written."""


class InvalidTurnError(InvalidInputError):
    """A turn that cannot be identified or stored. `where` names the part."""

    def __init__(self, where: str, problem: str, *, hint: str | None = None) -> None:
        super().__init__(f"turn.{where}: {problem}", hint=hint)
        self.where = where


class InvalidRecordError(InvalidInputError):
    """A line of a JSONL file that does not have the documented form."""

    def __init__(self, path: Path | str, line: int, key: str, problem: str) -> None:
        super().__init__(f"{path}:{line}: {key}: {problem}")
        self.path, self.line, self.key = str(path), line, key


class ConfigurationError(InvalidInputError):
    """Settings, a field catalogue or a policy that cannot be used."""


class NotFoundError(MemgateError):
    """There is no such thing under this id in this scope."""


class NotAllowedError(MemgateError):
    """The thing exists, but this step is not open to it, or not to this caller."""


class ApprovalError(NotAllowedError):
    """An approval that is void (the payload changed), blanket, expired, or not a person's."""


class ProtocolConflictError(MemgateError):
    """The same proposal id came with another payload (article: protocol conflict)."""

    def __init__(self, proposal_id: str, stored_hash: str, offered_hash: str) -> None:
        super().__init__(
            f"proposal {proposal_id}: payload {offered_hash[:12]} differs from the recorded"
            f" {stored_hash[:12]}",
            hint="the recorded result stands; a changed value needs its own turn",
        )
        self.proposal_id = proposal_id
        self.stored_hash, self.offered_hash = stored_hash, offered_hash


class LedgerError(MemgateError):
    """The ledger could not be read or written. The transaction was rolled back."""


class LedgerBusyError(LedgerError):
    """The ledger stayed locked for longer than the timeout; the same call may be retried."""


class ModelFaultError(MemgateError):
    """A model backend failed, refused, or answered outside its protocol."""


class ProjectionError(MemgateError):
    """A framework's store did not take a write. The event stays due and is delivered later."""


class OutputError(MemgateError):
    """A result file could not be written to its end; what stands in it ends with a full line."""
