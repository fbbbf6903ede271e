"""Submit connectors over REST and see that they start, as a user would."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from typing import cast

from copycat_launcher.connector_files import ConnectorFile
from copycat_launcher.errors import ConnectorFileError

ANSWER_SECONDS = 120.0
START_SECONDS = 60.0
POLL_SECONDS = 0.1
FAILED = "FAILED"
UNSETTLED = ("", "UNASSIGNED", "RESTARTING")
CONFLICT = 409


@dataclass(frozen=True, slots=True)
class Answer:
    """What the REST interface answered."""

    status: int
    body: object

    def field(self, *path: str) -> str:
        """Return a text of the body; empty when there is none."""
        found = self.body
        for name in path:
            found = cast("dict[str, object]", found).get(name) if isinstance(found, dict) else None
        return found if isinstance(found, str) else ""


async def submit(url: str, file: ConnectorFile) -> None:
    """Create the connector, or change the one of this name, and wait until it has started.

    Raises:
        ConnectorFileError: It was refused, or failed to start.
    """
    answer = await _put(url, file)
    if answer.status >= 400:
        message = f"{file.path}: connector {file.name} was refused: {answer.field('message') or answer.body}"
        raise ConnectorFileError(message)
    deadline = asyncio.get_running_loop().time() + START_SECONDS
    while asyncio.get_running_loop().time() < deadline:
        status = await _ask("GET", f"{_connector(url, file)}/status")
        state = status.field("connector", "state")
        if state == FAILED:
            why = status.field("connector", "trace").strip()
            message = f"{file.path}: connector {file.name} failed to start: {_summary(why)}"
            raise ConnectorFileError(message)
        if state not in UNSETTLED:
            return
        await asyncio.sleep(POLL_SECONDS)
    message = f"{file.path}: connector {file.name} did not start within {START_SECONDS:.0f} s"
    raise ConnectorFileError(message)


async def _put(url: str, file: ConnectorFile) -> Answer:
    if file.initial_state is not None:
        body = {"name": file.name, "config": file.config, "initial_state": file.initial_state}
        created = await _ask("POST", f"{url}/connectors", body)
        if created.status != CONFLICT:
            return created
    return await _ask("PUT", f"{_connector(url, file)}/config", file.config)


def _connector(url: str, file: ConnectorFile) -> str:
    return f"{url}/connectors/{urllib.parse.quote(file.name, safe='')}"


def _summary(trace: str) -> str:
    """Return the line of a trace that says why: Java's first, Python's last."""
    lines = trace.splitlines() or ["(no trace)"]
    return lines[-1] if lines[0].startswith("Traceback") else lines[0]


async def _ask(method: str, url: str, body: object = None) -> Answer:
    return await asyncio.to_thread(_asked, method, url, body)


def _asked(method: str, url: str, body: object) -> Answer:
    request = urllib.request.Request(url, method=method)  # noqa: S310 - our own gateway
    if body is not None:
        request.data = json.dumps(body).encode()
        request.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(request, timeout=ANSWER_SECONDS) as answer:  # noqa: S310 - our own gateway
            return Answer(answer.status, _decoded(answer.read()))
    except urllib.error.HTTPError as refused:
        return Answer(refused.code, _decoded(refused.read()))


def _decoded(body: bytes) -> object:
    try:
        return json.loads(body) if body else None
    except ValueError:
        return body.decode("utf-8", "replace")
