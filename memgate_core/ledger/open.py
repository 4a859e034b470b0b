"""Opens a ledger by url."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from memgate_core.errors import ConfigurationError
from memgate_core.ledger.backend import Backend
from memgate_core.ledger.database import Database
from memgate_core.ledger.migrate import migrate
from memgate_core.ledger.sql_ledger import SqlLedger
from memgate_core.ledger.times import utc_now

_FORMS = "sqlite:///file.db, sqlite:// (in memory) or postgresql+psycopg://user@host/database"


def open_ledger(
    url: str, *, timeout_s: float = 5.0, clock: Callable[[], datetime] = utc_now
) -> SqlLedger:
    """Opens a ledger and brings its schema up to date. Several processes may do so at once.

    `url`: `sqlite:///path` (relative to the working folder; four slashes for an absolute path),
    `sqlite://` (in memory, gone with this ledger) or `postgresql+psycopg://…`. `timeout_s` is how
    long a call waits for another writer. `clock` gives record time; only tests need another one.

    Raises:
        ConfigurationError: a url that names no such database, or a missing folder or driver.
        LedgerError: the database cannot be reached or read, or is of a newer version.
    """
    parsed = _parse(url)
    database = Database(_backend(parsed, timeout_s))
    try:
        migrate(database)
        return SqlLedger(database, parsed.render_as_string(hide_password=True), clock)
    except BaseException:
        database.close()
        raise


def _parse(url: str) -> URL:
    try:
        return make_url(url)
    except (ArgumentError, ValueError, TypeError) as fault:
        raise ConfigurationError("the ledger's url cannot be read", hint=f"use {_FORMS}") from fault


def _backend(url: URL, timeout_s: float) -> Backend:
    if url.drivername in ("sqlite", "sqlite+pysqlite"):
        _check_file(url)
        from memgate_core.ledger.sqlite import SqliteBackend

        return SqliteBackend(url, timeout_s)
    if url.drivername in ("postgresql", "postgres", "postgresql+psycopg"):
        _check_server(url)
        from memgate_core.ledger.postgres import PostgresBackend

        return PostgresBackend(url.set(drivername="postgresql+psycopg"), timeout_s)
    raise ConfigurationError(f"no ledger on {url.drivername!r}", hint=f"use {_FORMS}")


def _check_file(url: URL) -> None:
    if url.host or url.query:
        raise ConfigurationError(
            "a SQLite url takes a path and nothing else", hint="sqlite:///memgate.db has 3 slashes"
        )
    if url.database in (None, "", ":memory:"):
        return
    folder = Path(str(url.database)).absolute().parent
    if not folder.is_dir():
        raise ConfigurationError(f"the ledger's folder {folder} does not exist")


def _check_server(url: URL) -> None:
    if not url.database:
        raise ConfigurationError("the PostgreSQL url names no database", hint=f"use {_FORMS}")
