"""Opening ledgers, and what goes wrong with their databases."""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from memgate_core.errors import ConfigurationError, LedgerBusyError, LedgerError
from memgate_core.ledger.open import open_ledger
from memgate_core.ledger.sql_ledger import SqlLedger
from memgate_core.model import Subject, Turn
from tests.support import postgres
from tests.support.build import ANA, BEN, make_fact, make_key, make_receipt, make_staged, make_turn
from tests.support.ledgers import FILE, commit, fresh_url, hold, opened


@pytest.mark.parametrize(
    "url",
    [
        "",
        "memgate.db",
        "mysql://host/db",
        "postgresql+asyncpg://host/db",
        "postgresql+psycopg://host",
        "sqlite://memgate.db",
        "sqlite:////no/such/folder/memgate.db",
        "sqlite:///x.db?mode=ro",
    ],
)
def test_an_url_that_cannot_be_used_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError):
        open_ledger(url)


def test_a_password_is_not_shown() -> None:
    with pytest.raises(LedgerError) as refused:
        open_ledger("postgresql+psycopg://kim:secret@127.0.0.1:1/db", timeout_s=1)
    assert "secret" not in str(refused.value)


def test_a_file_is_the_same_ledger_again(tmp_path: Path) -> None:
    url = fresh_url(FILE, tmp_path)
    with opened(url) as ledger:
        fact = commit(ledger, make_fact())
    with opened(url) as ledger:
        assert ledger.facts(ANA) == [fact]
        assert ledger.url == url


def test_memory_ledgers_are_apart_and_serve_threads() -> None:
    with opened("sqlite://") as one, opened("sqlite://") as other:
        subjects = [Subject(user_id=f"u{number}") for number in range(8)]
        threads = [
            threading.Thread(target=commit, args=(one, make_fact(key=make_key(subject=subject))))
            for subject in subjects
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [len(one.facts(subject)) for subject in subjects] == [1] * 8
        assert other.subjects() == []


def test_a_folder_in_place_of_a_file(tmp_path: Path) -> None:
    with pytest.raises(LedgerError):
        open_ledger(f"sqlite:///{tmp_path}")


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "ledger.db").write_bytes(b"this is not a database, it is a letter" * 200)
    with pytest.raises(LedgerError) as broken:
        open_ledger(fresh_url(FILE, tmp_path))
    assert isinstance(broken.value.__cause__, sqlite3.DatabaseError)


def test_a_file_that_was_damaged(tmp_path: Path) -> None:
    url = fresh_url(FILE, tmp_path)
    with opened(url) as ledger:
        for number in range(50):
            commit(ledger, make_fact(message_id=f"m{number}", key=make_key(f"k{number}")))
    path = tmp_path / "ledger.db"
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(LedgerError) as broken, opened(url) as ledger:
        ledger.facts(ANA)
    assert isinstance(broken.value.__cause__, sqlite3.DatabaseError)


def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path) -> None:
    url = fresh_url(FILE, tmp_path)
    with opened(url) as ledger:
        _limit_size(ledger, more_pages=4)
        big = make_turn("x" * 100_000)
        with pytest.raises(LedgerError) as full:
            _write_much(ledger, big)
        assert isinstance(full.value.__cause__, sqlite3.OperationalError)
        assert ledger.staged(ANA) == []
        assert ledger.turn(ANA, "m1") is None
        _limit_size(ledger, more_pages=1000)
        _write_much(ledger, big)
        assert ledger.pending_count(ANA) == 1


def _write_much(ledger: SqlLedger, turn: Turn) -> None:
    with ledger.write(ANA) as tx:
        tx.stage(make_staged())
        tx.save_turn(turn, turn.text, make_receipt(turn))


def _limit_size(ledger: SqlLedger, more_pages: int) -> None:
    with closing(ledger._database.backend.engine.raw_connection()) as connection:
        cursor = connection.cursor()
        pages = cursor.execute("PRAGMA page_count").fetchone()[0]
        cursor.execute(f"PRAGMA max_page_count = {pages + more_pages}")


def test_a_locked_file_is_waited_for_and_then_reported(tmp_path: Path) -> None:
    url = fresh_url(FILE, tmp_path)
    with opened(url, timeout_s=0.2) as ledger:
        hold(ledger, make_staged())
        with closing(sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            started = time.monotonic()
            with pytest.raises(LedgerBusyError):
                commit(ledger, make_fact())
            assert time.monotonic() - started >= 0.2
            assert len(ledger.staged(ANA)) == 1
            other.execute("ROLLBACK")
        commit(ledger, make_fact())


def test_a_thread_that_writes_too_long_makes_others_busy(tmp_path: Path) -> None:
    with opened(fresh_url(FILE, tmp_path), timeout_s=0.2) as ledger:
        entered, done = threading.Event(), threading.Event()

        def write_slowly() -> None:
            with ledger.write(ANA):
                entered.set()
                done.wait(10)

        thread = threading.Thread(target=write_slowly)
        thread.start()
        entered.wait(10)
        with pytest.raises(LedgerBusyError):
            commit(ledger, make_fact(key=make_key(subject=BEN)))
        done.set()
        thread.join()
        commit(ledger, make_fact(key=make_key(subject=BEN)))


def test_erased_words_are_not_in_the_file_any_more(tmp_path: Path) -> None:
    with opened(fresh_url(FILE, tmp_path)) as ledger:
        for number in range(40):
            text = f"I might see a cardiologist {number}"
            turn = make_turn(text, f"m{number}")
            with ledger.write(ANA) as tx:
                tx.save_turn(turn, text, make_receipt(turn))
            words = make_staged(text, f"m{number}", key=make_key(f"k{number}"))
            hold(ledger, words)
        assert b"cardiologist" in _bytes(tmp_path)
        with ledger.write(ANA) as tx:
            tx.erase()
        assert b"cardiologist" not in _bytes(tmp_path)


def _bytes(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()))


@pytest.mark.postgres
def test_a_server_that_comes_back_is_used_again() -> None:
    with opened(postgres.fresh_database()) as ledger:
        hold(ledger, make_staged())
        with ledger._database.reading() as runner:
            (pid,) = runner.all(text("SELECT pg_backend_pid()"), {})[0]
        _terminate(ledger, pid)
        with pytest.raises(LedgerError):
            ledger.staged(ANA)
        assert len(ledger.staged(ANA)) == 1


@pytest.mark.postgres
def test_a_held_lock_is_waited_for_and_then_reported() -> None:
    url = postgres.fresh_database()
    with opened(url, timeout_s=0.2) as one, opened(url, timeout_s=0.2) as other:
        hold(one, make_staged(key=make_key(subject=BEN)))
        with one.write(ANA) as tx:
            tx.stage(make_staged())
            failed: list[Exception] = []

            def compete() -> None:
                try:
                    commit(other, make_fact())
                except LedgerBusyError as busy:
                    failed.append(busy)

            thread = threading.Thread(target=compete)
            thread.start()
            thread.join()
        assert len(failed) == 1
        commit(other, make_fact())
        assert one.pending_count(ANA) == 1


def _terminate(ledger: SqlLedger, pid: int) -> None:
    import psycopg

    dsn = ledger.url.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("SELECT pg_terminate_backend(%s)", [pid])
    time.sleep(0.2)
