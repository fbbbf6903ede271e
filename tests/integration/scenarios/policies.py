"""Connectors that change settings of their clients: a worker's policy allows it or does not."""

from __future__ import annotations

from pathlib import Path

from copycat_testkit.kafka import unique

from tests.integration.scenarios.monitors import Monitor
from tests.integration.scenarios.rest import Rest


def is_created(rest: Rest, folder: Path, **overrides: str) -> None:
    """Create a connector and wait until it runs."""
    name = unique("policy")
    rest.create(name, Monitor(folder / name).source(name, **overrides))
    rest.runs(name)
    rest.delete(name)


def is_refused(rest: Rest, folder: Path, **overrides: str) -> None:
    """Try to create a connector; it is not there afterwards."""
    name = unique("policy")
    config = Monitor(folder / name).source(name, **overrides)
    reply = rest.call("POST", "/connectors", {"name": name, "config": config})
    assert reply.status_code == 400, reply.text
    assert " policy does not allow " in reply.json()["message"]
    assert rest.call("GET", f"/connectors/{name}").status_code == 404
