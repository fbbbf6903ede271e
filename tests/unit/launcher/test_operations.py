"""Submitting the connectors of a standalone worker: what is sent, and what counts as started."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from copycat_cli.connector_files import ConnectorFile
from copycat_launcher.errors import ConnectorStartError
from copycat_launcher.operations import submit
from pytest_httpserver import HTTPServer

from tests.unit.cli.fake_connect import FakeConnect, Known

CONFIG = {"name": "a/b c", "connector.class": "FileStreamSource", "topic": "lines"}


@pytest.fixture
def rest(httpserver: HTTPServer) -> FakeConnect:
    fake = FakeConnect()
    httpserver.expect_request(re.compile(".*")).respond_with_handler(fake)
    return fake


def a_file(state: str | None = None, **config: str) -> ConnectorFile:
    return ConnectorFile(Path("c.json"), "a/b c", {**CONFIG, **config}, state)


async def test_a_new_connector_is_created_and_waited_for(rest: FakeConnect, httpserver: HTTPServer) -> None:
    def settles(known: Known) -> None:
        known.state = "RUNNING"

    rest.after_look, rest.begins_as = settles, "UNASSIGNED"
    await asyncio.wait_for(submit(httpserver.url_for(""), a_file()), 20)
    assert rest.changes == [("POST", "/connectors", {"name": "a/b c", "config": CONFIG})]
    assert rest.connectors["a/b c"].state == "RUNNING"


async def test_a_connector_of_the_name_is_changed(rest: FakeConnect, httpserver: HTTPServer) -> None:
    rest.add("a/b c")
    await asyncio.wait_for(submit(httpserver.url_for(""), a_file()), 20)
    assert rest.changes == [("PUT", "/connectors/a%2Fb%20c/config", CONFIG)]


async def test_an_initial_state_travels_with_the_creation(rest: FakeConnect, httpserver: HTTPServer) -> None:
    rest.begins_as = "STOPPED"
    await asyncio.wait_for(submit(httpserver.url_for(""), a_file("STOPPED")), 20)
    body = {"name": "a/b c", "config": CONFIG, "initial_state": "STOPPED"}
    assert rest.changes == [("POST", "/connectors", body)]


async def test_a_refused_connector_says_why(rest: FakeConnect, httpserver: HTTPServer) -> None:
    with pytest.raises(
        ConnectorStartError, match=r"c\.json: connector .* was refused: .*\n  tasks\.max: Invalid"
    ):
        await submit(httpserver.url_for(""), a_file(**{"tasks.max": "many"}))
    assert rest.changes == []


@pytest.mark.parametrize(
    "trace",
    ["no such host\n\tat x.Y", "Traceback (most recent call last):\n  File x\nValueError: no such host"],
)
async def test_a_connector_that_fails_to_start_says_why(
    rest: FakeConnect, httpserver: HTTPServer, trace: str
) -> None:
    rest.add("a/b c", state="FAILED", trace=trace, config=CONFIG)
    with pytest.raises(ConnectorStartError, match=r"failed to start: .*no such host$"):
        await submit(httpserver.url_for(""), a_file())
