"""A guard in front of a REST interface, as operators put one there: it wants a password below some paths."""

from __future__ import annotations

import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx2

CREDENTIALS = ("operator", "word")
_WANTED = "Basic " + b64encode(":".join(CREDENTIALS).encode()).decode()


@contextmanager
def guarded(url: str, path: str) -> Iterator[str]:
    """Guard everything below a path of an interface; gives the address to use instead."""

    class Guard(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._pass("GET")

        def do_PUT(self) -> None:
            self._pass("PUT")

        def _pass(self, method: str) -> None:
            if self.path.startswith(path) and self.headers["Authorization"] != _WANTED:
                self._answer(401, b"")
                return
            reply = httpx2.request(method, url + self.path, timeout=90)
            self._answer(reply.status_code, reply.content)

        def _answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Guard)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
