"""Brings a database to the schema this version speaks: ordered, recorded, one transaction each."""

from __future__ import annotations

from importlib import resources
from string import Template
from typing import NamedTuple

from sqlalchemy import bindparam, select, text

from memgate_core.errors import LedgerError
from memgate_core.ledger.database import Database
from memgate_core.ledger.runner import Runner, insert_into
from memgate_core.ledger.schema import migration
from memgate_core.ledger.times import micros, utc_now

_LOCK = "memgate schema"
_TABLE = "CREATE TABLE IF NOT EXISTS memgate_migration (" + (
    "version BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)"
)
_APPLIED = select(migration.c.version).order_by(migration.c.version)
_RECORD = insert_into(migration)


class Migration(NamedTuple):
    """One step of the schema's history, a file of `migrations/`."""

    version: int
    name: str
    script: str

    def statements(self, words: dict[str, str]) -> list[str]:
        """Its statements for one database."""
        lines = [line for line in self.script.splitlines() if not line.startswith("--")]
        filled = Template("\n".join(lines)).substitute(words)
        return [one.strip() for one in filled.split(";") if one.strip()]


def migrations() -> list[Migration]:
    """Every migration this version knows, in order."""
    folder = resources.files("memgate_core.ledger") / "migrations"
    files = sorted(file.name for file in folder.iterdir() if file.name.endswith(".sql"))
    return [
        Migration(int(name[:4]), name[5:-4], (folder / name).read_text(encoding="utf-8"))
        for name in files
    ]


def migrate(database: Database, upto: int | None = None) -> list[int]:
    """Applies what is missing (up to a version) and returns the versions applied by this call.

    Several processes may do so at once: each step is taken by exactly one of them.

    Raises:
        LedgerError: the database was written by a newer version, or a step failed.
    """
    known = [m for m in migrations() if upto is None or m.version <= upto]
    if not (missing := _missing(database, known)):
        return []
    return [m.version for m in missing if _apply(database, m)]


def applied(database: Database) -> list[int]:
    """Versions that are recorded in the database."""
    with database.reading() as runner:
        if runner.one(database.backend.table_exists, {"name": "memgate_migration"}) is None:
            return []
        return [row[0] for row in runner.all(_APPLIED, {})]


def _missing(database: Database, known: list[Migration]) -> list[Migration]:
    done = set(applied(database))
    if newer := done - {m.version for m in migrations()}:
        raise LedgerError(
            f"the ledger's schema {max(newer)} is newer than this version of agentmemgate",
            hint="upgrade agentmemgate, or open another ledger",
        )
    return [m for m in known if m.version not in done]


def _apply(database: Database, step: Migration) -> bool:
    with database.writing(_LOCK) as runner:
        runner.script(_TABLE)
        if _is_applied(runner, step):
            return False
        for statement in step.statements(database.backend.words):
            runner.script(statement)
        when = micros(utc_now())
        runner.run(_RECORD, {"version": step.version, "name": step.name, "applied_at": when})
        return True


def _is_applied(runner: Runner, step: Migration) -> bool:
    return runner.one(_IS_APPLIED, {"version": step.version}) is not None


_IS_APPLIED = select(text("1")).where(migration.c.version == bindparam("version"))
