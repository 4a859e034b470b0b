"""Runs prepared statements on one driver connection.

Statements are built once with SQLAlchemy Core and compiled once a dialect; what remains at run
time is the driver's own call. A turn's transaction has about a dozen statements, and rebuilding
or re-processing each of them would cost more than the database does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from pydantic import BaseModel
from sqlalchemy import BindParameter, Dialect, Table, bindparam, insert
from sqlalchemy.dialects.postgresql import insert as insert_or
from sqlalchemy.sql import ClauseElement

from memgate_core.errors import InvalidInputError, LedgerError

Row = tuple[Any, ...]
Params = Mapping[str, Any]


class Cursor(Protocol):
    """What the ledger needs of a driver's cursor (DB-API 2)."""

    @property
    def rowcount(self) -> int: ...
    def execute(self, sql: str, params: Any = ..., /) -> Any: ...
    def executemany(self, sql: str, params: Any, /) -> Any: ...
    def fetchone(self) -> Any: ...
    def fetchall(self) -> Any: ...
    def close(self) -> Any: ...


class Statement(NamedTuple):
    """A compiled statement."""

    sql: str
    order: tuple[str, ...] | None
    """The parameters' order where the driver takes them by position."""
    constants: Params
    """Parameters that SQLAlchemy itself put in, with their values."""

    def bind(self, params: Params) -> Any:
        """The parameters in the driver's form."""
        for value in params.values():
            if type(value) is str and "\x00" in value:
                raise LedgerError("a NUL character cannot be stored", hint="nothing was written")
        if self.constants:
            params = {**self.constants, **params}
        return params if self.order is None else tuple([params[name] for name in self.order])


class Prepared:
    """Compiled statements of one dialect, kept for the process's life."""

    @classmethod
    def of(cls, dialect: Dialect) -> Prepared:
        """The statements that every ledger of this database and driver shares: the statements are
        constants of modules, and compiling them takes longer than opening a ledger does."""
        name = (dialect.name, dialect.driver)
        if name not in _prepared:
            _prepared[name] = cls(dialect)
        return _prepared[name]

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._known: dict[ClauseElement, Statement] = {}

    def __getitem__(self, statement: ClauseElement) -> Statement:
        found = self._known.get(statement)
        if found is None:
            found = self._known[statement] = self._compile(statement)
        return found

    def _compile(self, statement: ClauseElement) -> Statement:
        compiled = statement.compile(dialect=self._dialect)
        order = getattr(compiled, "positiontup", None)
        binds: dict[str, BindParameter[Any]] = getattr(compiled, "binds", {})
        constants = {name: b.effective_value for name, b in binds.items() if not b.required}
        return Statement(str(compiled), tuple(order) if order is not None else None, constants)


_prepared: dict[tuple[str, str], Prepared] = {}


class Runner:
    """One connection in use. Every driver error leaves as a `LedgerError` with its cause."""

    def __init__(
        self, cursor: Cursor, prepared: Prepared, wrap: Callable[[Exception], LedgerError]
    ) -> None:
        self._cursor = cursor
        self._prepared = prepared
        self._wrap = wrap

    def run(self, statement: ClauseElement, params: Params) -> int:
        """Executes and returns how many rows it touched."""
        self._execute(statement, params)
        return self._cursor.rowcount

    def one(self, statement: ClauseElement, params: Params) -> Row | None:
        """The first row, or None."""
        self._execute(statement, params)
        row: Row | None = self._fetch(self._cursor.fetchone)
        return row

    def all(self, statement: ClauseElement, params: Params) -> list[Row]:
        """Every row."""
        self._execute(statement, params)
        rows: list[Row] = self._fetch(self._cursor.fetchall)
        return rows

    def many(self, statement: ClauseElement, rows: Sequence[Params]) -> None:
        """Executes once a row."""
        if not rows:
            return
        prepared = self._prepared[statement]
        bound = [prepared.bind(row) for row in rows]
        try:
            self._cursor.executemany(prepared.sql, bound)
        except Exception as fault:
            raise self._wrap(fault) from fault

    def close(self) -> None:
        """Closes the cursor; the connection stays with whoever lent it."""
        self._cursor.close()

    def script(self, sql: str) -> None:
        """Executes text without parameters: transaction control and schema changes."""
        try:
            self._cursor.execute(sql)
        except Exception as fault:
            raise self._wrap(fault) from fault

    def _execute(self, statement: ClauseElement, params: Params) -> None:
        prepared = self._prepared[statement]
        bound = prepared.bind(params)
        try:
            self._cursor.execute(prepared.sql, bound)
        except Exception as fault:
            raise self._wrap(fault) from fault

    def _fetch(self, fetch: Callable[[], Any]) -> Any:
        try:
            return fetch()
        except Exception as fault:
            raise self._wrap(fault) from fault


def insert_into(table: Table, *, skip: Iterable[str] = ()) -> Any:
    """A plain insert of all columns of a table but `skip` (those the database fills in)."""
    return insert(table).values(_columns(table, skip))


def insert_once(table: Table, *, skip: Iterable[str] = ()) -> Any:
    """An insert that leaves an existing row alone; its row count tells which happened."""
    return insert_or(table).values(_columns(table, skip)).on_conflict_do_nothing()


def upsert(table: Table, keys: Iterable[str], changes: Mapping[str, Any]) -> Any:
    """An insert that applies `changes` where the row is there already."""
    statement = insert_or(table).values(_columns(table, ()))
    return statement.on_conflict_do_update(index_elements=list(keys), set_=dict(changes))


def body_of(model: BaseModel) -> str:
    """The JSON of a model.

    Raises:
        LedgerError: it holds what UTF-8 cannot (a lone surrogate).
    """
    try:
        return model.model_dump_json()
    except ValueError as fault:
        raise LedgerError(f"{type(model).__name__} cannot be stored as UTF-8") from fault


def json_of(value: Any) -> str:
    """The JSON of a plain value.

    Raises:
        InvalidInputError: it is not JSON all the way down.
    """
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as fault:
        raise InvalidInputError(f"a value that is no JSON: {type(fault).__name__}") from fault


def _columns(table: Table, skip: Iterable[str]) -> dict[str, Any]:
    left_out = set(skip)
    return {c.name: bindparam(c.name) for c in table.columns if c.name not in left_out}
