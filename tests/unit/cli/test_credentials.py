"""A cluster that asks for a name and a password."""

from __future__ import annotations

import re

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from tests.unit.cli.conftest import Run
from tests.unit.cli.fake_connect import FakeConnect
from tests.unit.cli.test_reaching import completions


@pytest.fixture
def guarded(httpserver: HTTPServer, connect: FakeConnect) -> str:
    """Serve a cluster with one connector to ann alone; returns its url."""
    connect.add("lines")
    httpserver.clear()

    def answer(request: Request) -> Response:
        said = request.authorization
        if said is None or (said.username, said.password) != ("ann", "pa:ss"):
            return Response("User cannot access the resource.", 401, content_type="text/plain")
        return connect(request)

    httpserver.expect_request(re.compile(".*")).respond_with_handler(answer)
    return httpserver.url_for("")


def test_a_name_and_a_password_come_from_an_option_or_the_environment(run: Run, guarded: str) -> None:
    assert run("list", "-o", "json", "--user", "ann:pa:ss").exit_code == 0
    assert run("list", "-o", "json", COPYCAT_USER="ann:pa:ss").exit_code == 0
    wins = run("list", "-o", "json", "--user", "ann:pa:ss", "--url", guarded.replace("//", "//x:y@"))
    assert wins.exit_code == 0


@pytest.mark.parametrize("user", [None, "ann:wrong", "bob:pa:ss"])
def test_a_refusal_says_how_to_give_them_and_tells_none(run: Run, guarded: str, user: str | None) -> None:
    done = run("list", COPYCAT_USER=user)

    assert done.exit_code == 5
    assert "answered HTTP 401" in done.stderr
    assert "--user NAME:PASSWORD, or COPYCAT_USER" in done.stderr
    assert user is None or user.partition(":")[2] not in done.output


@pytest.mark.parametrize("user", ["ann", ":pa"])
def test_another_shape_is_told(run: Run, guarded: str, user: str) -> None:
    done = run("list", "--user", user)

    assert done.exit_code == 2
    assert "NAME:PASSWORD" in done.stderr


def test_told_commands_have_no_password(run: Run, guarded: str) -> None:
    assert "pa:ss" not in run("delete", "nobody", "--yes", "--user", "ann:pa:ss").output


def test_names_are_completed_from_a_guarded_cluster(guarded: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert completions(["describe", "--url", guarded], "li") == []
    monkeypatch.setenv("COPYCAT_USER", "ann:pa:ss")
    assert completions(["describe", "--url", guarded], "li") == ["lines"]


def test_a_token_is_sent_and_wins_over_a_name(run: Run, httpserver: HTTPServer, connect: FakeConnect) -> None:
    connect.add("lines")
    httpserver.clear()

    def answer(request: Request) -> Response:
        if request.headers.get("Authorization") == "Bearer a.good.token":
            return connect(request)
        return Response('{"error_code": 401, "message": "The token was refused: it has expired"}', 401)

    httpserver.expect_request(re.compile(".*")).respond_with_handler(answer)

    assert run("list", "-o", "json", "--token", "a.good.token", "--user", "ann:pa:ss").exit_code == 0
    assert run("list", "-o", "json", COPYCAT_TOKEN="a.good.token").exit_code == 0
    refused = run("list", COPYCAT_TOKEN="an.old.token")
    assert refused.exit_code == 5
    assert "it has expired" in refused.stderr
    assert "--token TOKEN, or COPYCAT_TOKEN" in refused.stderr
    assert "an.old.token" not in refused.output
    assert run("list", "--token", "Bearer a.good.token").exit_code == 2
    assert "a.good.token" not in run("delete", "nobody", "--yes", "--token", "a.good.token").output
