"""A stand-in for Mem0's hosted service: a local HTTP server that stores memories and keeps every
request it got. It answers the calls that the clients make, in the shapes that they expect."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

IDS = ("user_id", "agent_id", "run_id")
Json = dict[str, Any]


@dataclass
class Mem0Service:
    """What the service holds and what it was asked."""

    url: str = ""
    memories: dict[str, Json] = field(default_factory=dict)
    requests: list[tuple[str, str, Json]] = field(default_factory=list)
    failures: int = 0
    """So many of the next requests that write are answered with status 503."""

    def sent(self, path: str) -> list[Json]:
        """Bodies of the requests to a path."""
        return [body for _method, where, body in self.requests if where == path]

    def all_words(self) -> str:
        """Everything that ever came over the wire."""
        return json.dumps([body for _m, _p, body in self.requests])

    def texts(self, user_id: str = "ana") -> list[str]:
        return [m["memory"] for m in self.memories.values() if m.get("user_id") == user_id]

    # --- the service's own work ----------------------------------------------------------------

    def answer(self, method: str, path: str, query: Json, body: Json) -> tuple[int, Any]:
        parts = [part for part in path.split("/") if part]
        if parts[:2] == ["v1", "ping"]:
            return 200, {"org_id": "o1", "project_id": "p1", "user_email": "x@example.org"}
        if path == "/v3/memories/add/":
            return 200, {"results": self._add(body)}
        if path == "/v3/memories/":
            return 200, self._page(self._matching(body.get("filters") or {}), query)
        if path == "/v3/memories/search/":
            return 200, {"results": self._search(body)}
        if parts[:2] == ["v1", "batch"]:
            return 200, self._batch(method, body["memories"])
        if parts[:2] == ["v2", "entities"]:
            return self._drop_entity(parts[2], unquote(parts[3]))
        if parts[:2] == ["v1", "entities"]:
            users = {m["user_id"] for m in self.memories.values() if m.get("user_id")}
            return 200, {"results": [{"type": "user", "name": user} for user in sorted(users)]}
        return self._one(method, parts, query, body)

    def _one(self, method: str, parts: list[str], query: Json, body: Json) -> tuple[int, Any]:
        if len(parts) == 2 and method == "DELETE":
            for memory_id, _ in self._pairs({k: v for k, v in query.items() if k in IDS}):
                del self.memories[memory_id]
            return 200, {"message": "Memories deleted successfully!"}
        memory = self.memories.get(parts[2])
        if memory is None:
            return 404, {"detail": "no such memory"}
        if parts[3:] == ["history"]:
            return 200, []
        if method == "PUT":
            memory["memory"] = body.get("text", memory["memory"])
            memory["metadata"] = body.get("metadata", memory["metadata"])
        elif method == "DELETE":
            del self.memories[parts[2]]
            return 200, {"message": "Memory deleted successfully!"}
        return 200, memory

    def _add(self, body: Json) -> list[Json]:
        """Stores each user message as it is: extraction is not what is looked at here."""
        added = []
        for message in body["messages"]:
            if message["role"] != "user":
                continue
            memory_id = str(uuid.uuid4())
            ids = {name: body[name] for name in IDS if body.get(name)}
            ids |= {k: v for k, v in (body.get("filters") or {}).items() if k in IDS}
            row = {"id": memory_id, "memory": message["content"], **ids}
            self.memories[memory_id] = {**row, "metadata": body.get("metadata") or {}}
            added.append({"id": memory_id, "memory": message["content"], "event": "ADD"})
        return added

    def _batch(self, method: str, memories: list[Json]) -> Json:
        for memory in memories:
            if method == "DELETE":
                self.memories.pop(memory["memory_id"], None)
            else:
                self.memories[memory["memory_id"]]["memory"] = memory["text"]
        return {"message": f"{len(memories)} done"}

    def _drop_entity(self, kind: str, name: str) -> tuple[int, Any]:
        found = self._pairs({f"{kind}_id": name})
        if not found:
            return 404, {"detail": "no such entity"}
        for memory_id, _ in found:
            del self.memories[memory_id]
        return 200, {"message": "done"}

    def _search(self, body: Json) -> list[Json]:
        words = set(body["query"].lower().split())
        rows = self._matching(body.get("filters") or {})
        return [row for row in rows if words & set(row["memory"].lower().strip(".").split())]

    def _page(self, rows: list[Json], query: Json) -> Json:
        page, size = int(query.get("page", 1)), int(query.get("page_size", 100))
        more = len(rows) > page * size
        return {"results": rows[(page - 1) * size : page * size], "next": "more" if more else None}

    def _matching(self, filters: Json) -> list[Json]:
        return [row for _id, row in self._pairs(filters)]

    def _pairs(self, filters: Json) -> list[tuple[str, Json]]:
        return [
            (memory_id, row)
            for memory_id, row in self.memories.items()
            if all(row.get(name) == value for name, value in filters.items())
        ]


@contextmanager
def mem0_service() -> Iterator[Mem0Service]:
    """A running service on a free loopback port."""
    service = Mem0Service()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(service))
    service.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def _handler(service: Mem0Service) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length) or b"{}")
            where = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(where.query).items()}
            service.requests.append((self.command, where.path, {**query, **body}))
            writes = self.command in ("PUT", "DELETE") or where.path.endswith("/add/")
            if writes and service.failures > 0:
                service.failures -= 1
                self._reply(503, {"detail": "try later"})
                return
            self._reply(*service.answer(self.command, where.path, query, body))

        do_GET = do_POST = do_PUT = do_DELETE = _serve

        def _reply(self, status: int, body: Any) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_args: Any) -> None:
            return None

    return Handler
