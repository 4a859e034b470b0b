"""A real Neo4j 5.26 community server for tests: started once a test process, on a loopback port.

Where it comes from, first found: the url in MEMGATE_TEST_NEO4J (a server whose data may be thrown
away), or the server's own jars, fetched with Maven into a cache folder and run with the JDK at
hand on a throw-away data folder. Where there is none, tests are skipped with the reason, or fail
when MEMGATE_REQUIRE_SERVERS=1.
"""

from __future__ import annotations

import atexit
import ctypes
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from functools import lru_cache
from pathlib import Path

import pytest

VERSION = "5.26.0"
_CACHE = Path(os.environ.get("MEMGATE_CACHE", Path.home() / ".cache" / "agentmemgate")) / "neo4j"
_FETCH_S = 900
_START_S = 180.0
_PR_SET_PDEATHSIG = 1

_POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>agentmemgate</groupId>
  <artifactId>neo4j-for-tests</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.neo4j</groupId><artifactId>neo4j</artifactId><version>{VERSION}</version>
    </dependency>
    <dependency>
      <groupId>org.neo4j.app</groupId><artifactId>neo4j-server</artifactId>
      <version>{VERSION}</version>
    </dependency>
  </dependencies>
</project>
"""


class NoServerError(Exception):
    """No Neo4j could be found or started; the text says why."""


def neo4j_url() -> str:
    """The bolt url of the running server, authentication off.

    Skips (or fails, see the module) the calling test where there is no server.
    """
    try:
        return _server_once()
    except NoServerError as why:
        if os.environ.get("MEMGATE_REQUIRE_SERVERS") == "1":
            pytest.fail(f"no Neo4j server: {why}")
        pytest.skip(f"no Neo4j server: {why}")


_missing: list[NoServerError] = []


def _server_once() -> str:
    """As `server_url`; a start that failed is not tried again for every test."""
    if _missing:
        raise _missing[0]
    try:
        return server_url()
    except NoServerError as why:
        _missing.append(why)
        raise


@lru_cache(maxsize=1)
def server_url() -> str:
    """The bolt url of the running server; fetches and starts it on first use.

    Raises:
        NoServerError: there is none and none could be started.
    """
    if given := os.environ.get("MEMGATE_TEST_NEO4J"):
        return given
    java = shutil.which("java")
    if java is None:
        raise NoServerError("no java on the path: install a JDK, 17 or newer")
    jars = _jars()
    home = Path(tempfile.mkdtemp(prefix="mgneo4j"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    port = _free_port()
    _configure(home, port)
    _start(java, jars, home, port)
    return f"bolt://127.0.0.1:{port}"


def _jars() -> Path:
    """The folder with the server's jars, fetched once a machine."""
    folder = _CACHE / VERSION
    _CACHE.mkdir(parents=True, exist_ok=True)
    with (_CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            _fetch(folder)
    return folder


def _fetch(folder: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise NoServerError("no mvn on the path to fetch the server's jars with: install maven")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pom.xml").write_text(_POM, encoding="utf-8")
    command = [maven, "-q", "-B", "dependency:copy-dependencies", "-DincludeScope=runtime"]
    command.append(f"-DoutputDirectory={folder}")
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=_FETCH_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise NoServerError(f"fetching the jars took longer than {_FETCH_S} s") from None
    if done.returncode != 0:
        raise NoServerError(f"mvn: {(done.stdout + done.stderr).strip()[-300:]}")
    (folder / "complete").touch()


def _configure(home: Path, port: int) -> None:
    (home / "conf").mkdir()
    settings = {
        "dbms.security.auth_enabled": "false",
        "dbms.usage_report.enabled": "false",
        "server.bolt.listen_address": f"127.0.0.1:{port}",
        "server.http.enabled": "false",
        "server.https.enabled": "false",
        "server.memory.pagecache.size": "64m",
    }
    lines = [f"{key}={value}" for key, value in settings.items()]
    (home / "conf" / "neo4j.conf").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _start(java: str, jars: Path, home: Path, port: int) -> None:
    libc = ctypes.CDLL(None)
    opens = ("java.base/java.nio", "java.base/java.io", "java.base/sun.nio.ch")
    command = [java, "-Xmx512m", "-XX:+UseSerialGC"]
    command += [f"--add-opens={package}=ALL-UNNAMED" for package in opens]
    command += ["-cp", f"{jars}/*", "org.neo4j.server.CommunityEntryPoint"]
    command += [f"--home-dir={home}", f"--config-dir={home / 'conf'}"]
    with (home / "out").open("wb") as out:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            cwd=home,
            # dies with the test process, however that ends: the data is thrown away
            preexec_fn=lambda: libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL),
        )
    atexit.register(_stop, process)
    _wait(process, home, port)


def _wait(process: subprocess.Popen[bytes], home: Path, port: int) -> None:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.2)
        else:
            _await_queries(port, deadline)
            return
    _stop(process)
    raise NoServerError(f"neo4j did not start: {(home / 'out').read_text()[-300:]}")


def _await_queries(port: int, deadline: float) -> None:
    from neo4j import GraphDatabase
    from neo4j.exceptions import Neo4jError, ServiceUnavailable

    while True:
        try:
            with GraphDatabase.driver(f"bolt://127.0.0.1:{port}", auth=None) as driver:
                driver.execute_query("RETURN 1")
            return
        except (ServiceUnavailable, Neo4jError) as why:
            if time.monotonic() > deadline:
                raise NoServerError(f"neo4j answers no query: {why}") from why
            time.sleep(0.3)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait(timeout=20)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
