"""A token endpoint on loopback: client credentials in, a token out that a broker of tests believes."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, ClassVar
from urllib.parse import parse_qs

CLIENT, SECRET = "copycat", "the word of the token client"
LIFE_SECONDS = 600


def token(subject: str) -> str:
    """Return a token that nobody signed, as RFC 7515 writes it."""
    now = int(time.time())
    claims = {"sub": subject, "iat": now, "exp": now + LIFE_SECONDS, "scope": ["kafka"]}
    return f"{_part({'alg': 'none'})}.{_part(claims)}."


def _part(content: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")


class _Handler(BaseHTTPRequestHandler):
    asked: ClassVar[list[dict[str, list[str]]]]

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        known = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        quoted = base64.b64encode(f"{CLIENT}:{SECRET.replace(' ', '%20')}".encode()).decode()
        allowed = self.headers["Authorization"] in {f"Basic {known}", f"Basic {quoted}"}
        self.asked.append(form)
        answer: dict[str, Any] = {"error": "invalid_client"}
        if allowed:
            answer = {"access_token": token(CLIENT), "token_type": "Bearer", "expires_in": LIFE_SECONDS}
        body = json.dumps(answer).encode()
        self.send_response(200 if allowed else 401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class TokenServer:
    """A running one."""

    def __init__(self, port: int, asked: list[dict[str, list[str]]]) -> None:
        self.url = f"http://127.0.0.1:{port}/token"
        self.asked = asked


@contextmanager
def token_server() -> Iterator[TokenServer]:
    """Run one."""
    handler = type("Handler", (_Handler,), {"asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield TokenServer(server.server_port, handler.asked)  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        server.server_close()
