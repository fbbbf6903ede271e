"""Submitting the connectors of a standalone worker: what is sent, and what counts as started."""

from __future__ import annotations

import asyncio
import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from copycat_launcher.connector_files import ConnectorFile
from copycat_launcher.errors import ConnectorFileError
from copycat_launcher.submit import submit


class FakeRest(http.server.ThreadingHTTPServer):
    """A REST interface that answers what the test wants and keeps what it was sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.creation: tuple[int, object] = (201, {})
        self.states = [("RUNNING", "")]
        self.received: list[tuple[str, str, object]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers from the fake's script."""

    server: FakeRest

    def do_GET(self) -> None:
        states = self.server.states
        state, trace = states.pop(0) if len(states) > 1 else states[0]
        connector = {"state": state, "worker_id": "w", "trace": trace}
        self._answer(404 if state == "" else 200, {"name": "c", "connector": connector, "tasks": []})

    def do_PUT(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.received.append((self.command, self.path, body))
        self._answer(*self.server.creation)

    do_POST = do_PUT

    def log_message(self, *_: object) -> None:
        pass

    def _answer(self, status: int, body: object) -> None:
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())


@pytest.fixture
def rest() -> Iterator[FakeRest]:
    with FakeRest() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def a_file(state: str | None = None) -> ConnectorFile:
    return ConnectorFile(Path("c.json"), "a/b c", {"name": "a/b c"}, state)


async def test_a_connector_is_put_under_its_quoted_name(rest: FakeRest) -> None:
    rest.states = [("", ""), ("UNASSIGNED", ""), ("RUNNING", "")]
    await asyncio.wait_for(submit(rest.url, a_file()), 20)
    assert rest.received == [("PUT", "/connectors/a%2Fb%20c/config", {"name": "a/b c"})]


async def test_an_initial_state_travels_with_the_creation(rest: FakeRest) -> None:
    rest.states = [("STOPPED", "")]
    await asyncio.wait_for(submit(rest.url, a_file("STOPPED")), 20)
    body = {"name": "a/b c", "config": {"name": "a/b c"}, "initial_state": "STOPPED"}
    assert rest.received == [("POST", "/connectors", body)]


async def test_a_refused_connector_says_why(rest: FakeRest) -> None:
    rest.creation = (400, {"error_code": 400, "message": "Connector configuration is invalid"})
    with pytest.raises(
        ConnectorFileError, match=r"c\.json: connector .* was refused: Connector configuration"
    ):
        await submit(rest.url, a_file())


@pytest.mark.parametrize(
    "trace",
    ["no such host\n\tat x.Y", "Traceback (most recent call last):\n  File x\nValueError: no such host"],
)
async def test_a_connector_that_fails_to_start_says_why(rest: FakeRest, trace: str) -> None:
    rest.states = [("FAILED", trace)]
    with pytest.raises(ConnectorFileError, match=r"failed to start: .*no such host$"):
        await submit(rest.url, a_file())
