"""A role that does nothing but what the launcher needs of one: answer health, and drain."""

from __future__ import annotations

import http.server
import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import grpc
from copycat_rpc.role import read_properties
from grpc_health.v1 import health, health_pb2_grpc


class Healthy(http.server.BaseHTTPRequestHandler):
    """Answers every GET with 200."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def note(line: str) -> None:
    """Write into the journal of the test."""
    with Path(os.environ["JOURNAL"]).open("a") as journal:
        journal.write(f"{line}\n")


def run(role: str) -> None:
    """Serve until SIGTERM; `<role>.fails=why` ends it at once with that, `<role>.stubborn=` ignores it."""
    properties = read_properties(Path(sys.argv[1]))
    if why := properties.get(f"{role}.fails"):
        sys.exit(f"copycat {role}: {why}")
    note(f"up {role} {os.getpid()}")
    drain = threading.Event()
    stubborn = f"{role}.stubborn" in properties
    signal.signal(signal.SIGTERM, lambda *_: note(f"asked {role}") if stubborn else drain.set())
    if role == "gateway":
        url = urlsplit(properties["listeners"])
        web = http.server.ThreadingHTTPServer((str(url.hostname), int(url.port or 0)), Healthy)
        threading.Thread(target=web.serve_forever, daemon=True).start()
    else:
        server = grpc.server(ThreadPoolExecutor(2))
        health_pb2_grpc.add_HealthServicer_to_server(health.HealthServicer(), server)
        server.add_insecure_port(properties[f"{role}.listen"])
        server.start()
    drain.wait()
    note(f"drained {role}")
    os._exit(0)
