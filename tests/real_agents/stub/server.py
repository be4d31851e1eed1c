"""The server: it listens on the loopback interface, answers by the script, and keeps what it was asked."""

from __future__ import annotations

import gzip
import itertools
import json
import sys
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

from real_agents.stub import anthropic, chat, gemini, responses
from real_agents.stub.script import Line, Script

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType

    from real_agents.stub.anthropic import Frame

MODEL = "stub-model"
MOST_BYTES = 32 * 1024 * 1024

# How a path ends tells the protocol, whatever stands before it.
PROTOCOLS: dict[str, ModuleType] = {
    "/messages": anthropic,
    "/chat/completions": chat,
    "/responses": responses,
    ":generateContent": gemini,
    ":streamGenerateContent": gemini,
}


@dataclass(frozen=True)
class Request:
    """One request for an answer, as it came in."""

    path: str
    body: dict[str, Any]
    line: Line | None  # the line of the script that it is about

    @property
    def words(self) -> str:
        """All of it as text, as the model would read it: quotes and line feeds not escaped."""
        return "\n".join(_strings(self.body))


def _strings(value: Any) -> Iterable[str]:
    match value:
        case str():
            yield value
        case list():
            for inner in value:
                yield from _strings(inner)
        case dict():
            for inner in value.values():
                yield from _strings(inner)


class Stub(ThreadingHTTPServer):
    """Used as a context manager; `url` is where it answers, `requests` what it was asked so far."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = Script()
        self.requests: list[Request] = []
        self.unknown: list[str] = []  # what no route of ours answers
        self.faults: list[str] = []  # requests that this stub did not understand
        self.numbers = itertools.count(1)
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05})

    @property
    def url(self) -> str:
        """Without a path."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def asked(self, line: Line) -> list[Request]:
        """The requests about one line of the script, oldest first."""
        return [request for request in self.requests if request.line == line]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join(timeout=10)
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """An agent that hangs up is no fault; anything else is one of this stub."""
        fault = sys.exception()
        if not isinstance(fault, OSError):
            self.faults.append(repr(fault))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60
    server: Stub

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""

    def do_HEAD(self) -> None:
        self._document({})

    def do_GET(self) -> None:
        path = self._path()
        if not path.endswith("models"):
            self.server.unknown.append(f"GET {path}")
            self._document({"error": {"message": "not served here", "type": "not_found"}}, status=404)
            return
        model = {"id": MODEL, "object": "model", "type": "model", "created": 1, "owned_by": "stub"}
        self._document({"object": "list", "data": [model], "models": [], "has_more": False})

    def do_POST(self) -> None:
        path, content = self._path(), self._content()
        if path.endswith("/count_tokens"):
            self._document({"input_tokens": len(content) // 4 + 1})
            return
        if path.endswith(":countTokens"):
            self._document({"totalTokens": len(content) // 4 + 1})
            return
        protocol = next((module for end, module in PROTOCOLS.items() if path.endswith(end)), None)
        if protocol is None:
            self.server.unknown.append(f"POST {path}")
            self._document({"error": {"message": "not served here", "type": "not_found"}}, status=404)
            return
        body = json.loads(content)
        asked, script = protocol.read(body), self.server.script
        self.server.requests.append(Request(path, body, script.line(asked.said)))
        answer, key = script.answer(asked), f"{next(self.server.numbers):024d}"
        if body.get("stream") or "stream" in path:
            self._events(protocol.streamed(body, answer, key))
        else:
            self._document(protocol.whole(body, answer, key))

    def _path(self) -> str:
        return self.path.split("?")[0].rstrip("/")

    def _content(self) -> bytes:
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            content = b"".join(self._chunks())
        else:
            content = self.rfile.read(min(int(self.headers.get("Content-Length") or 0), MOST_BYTES))
        return gzip.decompress(content) if self.headers.get("Content-Encoding") == "gzip" else content

    def _chunks(self) -> Iterable[bytes]:
        while size := int(self.rfile.readline().split(b";")[0] or b"0", 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _head(self, status: int, kind: str, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("request-id", f"req_{next(self.server.numbers):024d}")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def _document(self, document: Any, status: int = 200) -> None:
        content = b"" if self.command == "HEAD" else json.dumps(document).encode()
        self._head(status, "application/json", Content_Length=str(len(content)))
        self.wfile.write(content)

    def _events(self, frames: Iterable[Frame]) -> None:
        self.close_connection = True
        self._head(200, "text/event-stream", Cache_Control="no-cache", Connection="close")
        for name, data in frames:
            head = f"event: {name}\n" if name else ""
            text = data if isinstance(data, str) else json.dumps(data)
            self.wfile.write(f"{head}data: {text}\n\n".encode())
            self.wfile.flush()
