"""The process of `s3.py`: moto's server, one call at a time.

A condition of a write (`If-None-Match: *`) is atomic in S3; moto looks first and writes then, so its calls
are made to wait for each other.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable
from typing import Any

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server


class _Handler(WSGIRequestHandler):
    """Keeps connections open, as S3 does."""

    protocol_version = "HTTP/1.1"

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Write nothing for each call."""


class _OneAtATime:
    """Lets one call after the other in."""

    def __init__(self, application: Callable[..., Iterable[bytes]]) -> None:
        self._application = application
        self._lock = threading.Lock()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        with self._lock:
            return list(self._application(environ, start_response))


def main() -> None:
    """Serve until killed: `python -m copycat_testkit.s3_process HOST PORT`."""
    host, port = sys.argv[1], int(sys.argv[2])
    application = _OneAtATime(DomainDispatcherApplication(create_backend_app))
    make_server(host, port, application, threaded=True, request_handler=_Handler).serve_forever()


if __name__ == "__main__":
    main()
