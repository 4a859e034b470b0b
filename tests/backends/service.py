"""A chat completions service on a port of its own: real HTTP, scripted answers."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.backends.scripted import sheet


@dataclass
class Answer:
    """One HTTP answer."""

    status: int = 200
    content: str | None = None
    """The assistant's text; by default the scripted sheet for what was asked."""
    refusal: str | None = None
    body: str | None = None
    """The whole body, in place of a completion."""
    headers: dict[str, str] = field(default_factory=dict)
    after_s: float = 0.0


@dataclass
class Service:
    """What the service was asked, and what it answers next."""

    url: str = ""
    answers: list[Answer] = field(default_factory=list)
    """Taken in order; then the scripted sheet for ever."""
    reply: Callable[[dict[str, Any]], Answer] | None = None
    """Answers every request for which `answers` holds none."""
    objects: Callable[[dict[str, Any]], str | None] = lambda _body: None
    """Refuses a request by returning a complaint (status 400)."""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)


@contextmanager
def running() -> Iterator[Service]:
    """A running service."""
    service = Service()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(service))
    service.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()


def _handler(service: Service) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            service.bodies.append(body)
            service.keys.append(self.headers.get("Authorization"))
            complaint = service.objects(body)
            if complaint is not None:
                self._send(
                    Answer(status=400, body=json.dumps({"error": {"message": complaint}})), body
                )
                return
            self._send(_next(service, body), body)

        def _send(self, answer: Answer, asked: dict[str, Any]) -> None:
            if answer.after_s:
                time.sleep(answer.after_s)
            text = answer.body if answer.body is not None else _completion(answer, asked)
            try:
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(text.encode())
            except (BrokenPipeError, ConnectionResetError):
                return  # the client did not wait

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    return Handler


def _next(service: Service, body: dict[str, Any]) -> Answer:
    if service.answers:
        return service.answers.pop(0)
    return service.reply(body) if service.reply is not None else Answer()


def _completion(answer: Answer, asked: dict[str, Any]) -> str:
    content = answer.content
    if content is None and answer.refusal is None:
        content = json.dumps(sheet(_material(asked)))
    message = {"role": "assistant", "content": content, "refusal": answer.refusal}
    return json.dumps(
        {
            "id": "c1",
            "object": "chat.completion",
            "created": 0,
            "model": asked["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 70, "completion_tokens": 30, "total_tokens": 100},
        }
    )


def _material(asked: dict[str, Any]) -> dict[str, Any]:
    """The material in the last message; clients may write after it."""
    text = str(asked["messages"][-1]["content"])
    found: dict[str, Any]
    found, _end = json.JSONDecoder().raw_decode(text[text.index("{") :])
    return found
