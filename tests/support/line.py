"""A TCP line to a local server that a test can cut: what a database that is down looks like."""

from __future__ import annotations

import contextlib
import socket
import threading


class Line:
    """Forwards connections on a loopback port of its own to another one."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._up = True
        self._ends: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Ends every connection and refuses new ones."""
        with self._lock:
            self._up = False
            ends, self._ends = self._ends, set()
        for end in ends:
            _close(end)

    def restore(self) -> None:
        """Lets connections through again."""
        self._up = True

    def _accept(self) -> None:
        while True:
            near, _ = self._listener.accept()
            if not self._up:
                _close(near)
                continue
            try:
                far = socket.create_connection(self._target)
            except OSError:
                _close(near)
                continue
            with self._lock:
                self._ends |= {near, far}
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self._copy, args=(source, sink), daemon=True).start()

    def _copy(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        for end in (source, sink):
            _close(end)
        with self._lock:
            self._ends -= {source, sink}


def _close(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
