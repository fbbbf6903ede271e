"""The command as users type it, against a cluster in memory behind a real port."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from copycat_launcher.main import copycat
from pytest_httpserver import HTTPServer

from tests.unit.cli.fake_connect import FakeConnect

Run = Callable[..., Result]
PROPERTIES = "name=lines\nconnector.class=FileStreamSource\nfile=/in.txt\ntopic=lines\n"


@pytest.fixture
def connect(httpserver: HTTPServer) -> FakeConnect:
    fake = FakeConnect()
    httpserver.expect_request(re.compile(".*")).respond_with_handler(fake)
    return fake


@pytest.fixture
def run(httpserver: HTTPServer, connect: FakeConnect) -> Run:
    """Run a command against the cluster, named by the environment."""

    def runs(*words: str | Path, said: str = "", **environment: str) -> Result:
        # The variables of the one who runs the tests are not theirs.
        variables = {"COPYCAT_URL": httpserver.url_for(""), "VISUAL": None, "EDITOR": None, **environment}
        return CliRunner().invoke(copycat, list(map(str, words)), input=said, env=variables)

    return runs


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Give the connector `lines` as a file."""
    path = tmp_path / "lines.properties"
    path.write_text(PROPERTIES)
    return path
