"""A role that does nothing but what the launcher needs of one: answer health, and drain."""

from __future__ import annotations

import asyncio
import http.server
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import grpc
from copycat_connect.errors import ConfigError, CopycatError
from copycat_rpc.role import read_properties
from grpc_health.v1 import health, health_pb2_grpc


class Healthy(http.server.BaseHTTPRequestHandler):
    """Answers every GET with 200."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


#: gRPC stops a server that nobody holds.
_held: list[grpc.Server] = []


def note(line: str) -> None:
    """Write into the journal of the test."""
    with Path(os.environ["JOURNAL"]).open("a") as journal:
        journal.write(f"{line}\n")


def answer_health(role: str, properties: Mapping[str, str]) -> grpc.Server:
    """Answer over gRPC, and return what does."""
    server = grpc.server(ThreadPoolExecutor(2))
    health_pb2_grpc.add_HealthServicer_to_server(health.HealthServicer(), server)
    server.add_insecure_port(properties[f"{role}.listen"])
    server.start()
    _held.append(server)
    return server


async def serve(
    role: str, properties: Mapping[str, str], stop: asyncio.Event, ready: Callable[[str], None]
) -> None:
    """Serve until `stop` in a process that is shared; `<role>.ends=why` ends it at once after its start."""
    if why := properties.get(f"{role}.fails"):
        raise ConfigError(why)
    note(f"up {role} {os.getpid()}")
    server = answer_health(role, properties)
    ready(properties[f"{role}.listen"])
    if why := properties.get(f"{role}.ends"):
        await asyncio.sleep(5)  # the system is ready by then, and the process is kept
        raise CopycatError(why)
    await stop.wait()
    server.stop(None)
    note(f"drained {role}")


def run(role: str) -> None:
    """Serve until SIGTERM; `<role>.fails=why` ends it at once with that, `<role>.stubborn=` ignores it."""
    properties = read_properties(Path(sys.argv[1]))
    if why := properties.get(f"{role}.fails"):
        sys.exit(f"copycat {role}: {why}")
    # A handler's event may be missed by a wait that just begins; a signal that is blocked waits for who asks.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    note(f"up {role} {os.getpid()}")
    if role == "gateway":
        url = urlsplit(properties["listeners"])
        web = http.server.ThreadingHTTPServer((str(url.hostname), int(url.port or 0)), Healthy)
        threading.Thread(target=web.serve_forever, daemon=True).start()
    else:
        answer_health(role, properties)
    signal.sigwait({signal.SIGTERM})
    while f"{role}.stubborn" in properties:
        note(f"asked {role}")
        signal.sigwait({signal.SIGTERM})
    note(f"drained {role}")
    os._exit(0)
