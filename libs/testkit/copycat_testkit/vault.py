"""A small server that speaks Vault's HTTP API for key/value secrets, over http or TLS, on loopback."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

TOKEN = "hvs.of-this-test"  # noqa: S105 - opens nothing but this


@dataclass
class Vault:
    """What it knows."""

    address: str = ""
    secrets: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Values by path after `/v1/`; those of `<mount>/data/` are of version 2."""
    lease_seconds: int = 0
    token: str = TOKEN
    answers: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    """Status and body in place of a secret, by path."""
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    """Path and namespace of each request."""

    def answer(self, path: str, token: str | None) -> tuple[int, bytes]:
        """Return status and body."""
        if path in self.answers:
            return self.answers[path]
        if token != self.token:
            return 403, b'{"errors":["permission denied"]}'
        if path not in self.secrets:
            return 404, b'{"errors":[]}'
        values: dict[str, Any] = self.secrets[path]
        if path.split("/")[1] == "data":
            values = {"data": values, "metadata": {"version": 1, "destroyed": False}}
        reply = {"request_id": "1", "lease_duration": self.lease_seconds, "renewable": False, "data": values}
        return 200, json.dumps(reply).encode()


@contextmanager
def vault_server(tls: ssl.SSLContext | None = None) -> Iterator[Vault]:
    """Run one."""
    vault = Vault()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.removeprefix("/v1/")
            vault.asked.append((path, self.headers["X-Vault-Namespace"]))
            status, body = vault.answer(path, self.headers["X-Vault-Token"])
            self.send_response(status)
            if status == 307:
                self.send_header("Location", body.decode())
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    vault.address = f"http{'s' if tls else ''}://127.0.0.1:{server.server_port}"
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield vault
    finally:
        server.shutdown()
        server.server_close()
