"""Where the cluster is, and what is said when it is not there or not well."""

from __future__ import annotations

import click
import pytest
from click.shell_completion import ShellComplete
from copycat_cli.errors import EXPLAINED, ExitCode
from copycat_cli.sections import SECTIONS
from copycat_launcher.main import copycat
from pytest_httpserver import HTTPServer

from tests.unit.cli.conftest import Run
from tests.unit.cli.fake_connect import FakeConnect

NOBODY = "http://127.0.0.1:1"


def test_a_cluster_that_is_not_there_tells_how_to_start_one(run: Run) -> None:
    done = run("list", COPYCAT_URL=NOBODY)
    assert done.exit_code == 5
    assert f"No cluster answers at {NOBODY}" in done.stderr
    assert "copycat up" in done.stderr
    assert "--url" in done.stderr


def test_a_password_in_the_url_is_never_shown(run: Run) -> None:
    done = run("list", "--url", "http://me:s3cret@127.0.0.1:1")
    assert done.exit_code == 5
    assert "s3cret" not in done.output


@pytest.mark.parametrize("url", ["ftp://x", "http://", "http://x:port"])
def test_what_is_no_address_is_told_so(run: Run, url: str) -> None:
    done = run("list", "--url", url)
    assert done.exit_code == 5
    assert "http://HOST:8083" in done.stderr


def test_an_address_needs_no_scheme(run: Run, connect: FakeConnect, httpserver: HTTPServer) -> None:
    assert run("list", "--url", f"{httpserver.host}:{httpserver.port}/").exit_code == 0


def test_something_else_at_the_address_is_told_so(run: Run, connect: FakeConnect) -> None:
    for answer in ((200, {"hello": "world"}), (404, "nothing here"), (401, None)):
        connect.refusal = answer
        assert run("list").exit_code == 5


def test_a_cluster_that_fails_ends_with_seven(run: Run, connect: FakeConnect) -> None:
    connect.refusal = (500, {"error_code": 500, "message": "Request timed out."})
    done = run("list")
    assert done.exit_code == 7
    assert "The cluster answered HTTP 500: Request timed out." in done.stderr


def test_told_commands_repeat_a_url_from_the_command_line(
    run: Run, connect: FakeConnect, httpserver: HTTPServer
) -> None:
    connect.add("lines", tasks=["FAILED"])
    url = httpserver.url_for("")
    assert f"copycat describe lines --url {url}" in run("list", "--url", url).stderr
    assert "--url" not in run("list").stderr


def test_every_exit_code_is_explained_in_the_help(run: Run) -> None:
    said = run("--help").stdout
    for code in ExitCode:
        assert EXPLAINED[code] in " ".join(said.split())


def test_a_mistyped_command_is_told_those_like_it(run: Run) -> None:
    done = run("lst")
    assert done.exit_code == 2
    assert "Did you mean list" in done.stderr


def commands() -> list[tuple[str, click.Command]]:
    top = [(command.name or "", command) for listed in SECTIONS.values() for command in listed]
    below = [
        (f"{name} {inner}", command)
        for name, group in top
        if isinstance(group, click.Group)
        for inner, command in group.commands.items()
    ]
    return [*top, *below]


@pytest.mark.parametrize(
    ("name", "command"), commands(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_command_has_an_example_in_its_help(run: Run, name: str, command: click.Command) -> None:
    said = run(*name.split(), "--help").stdout
    assert f"copycat {name}" in said.partition("\n\n")[2] or isinstance(command, click.Group)
    short = command.get_short_help_str(64)
    assert not short.endswith("..."), short


def completions(words: list[str], begun: str) -> list[str]:
    shell = ShellComplete(copycat, {}, "copycat", "_COPYCAT_COMPLETE")
    return [item.value for item in shell.get_completions(words, begun)]


def test_names_are_completed_from_the_cluster(
    connect: FakeConnect, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect.add("lines")
    connect.add("orders")
    url = ["--url", httpserver.url_for("")]
    assert completions(["describe", *url], "li") == ["lines"]
    assert completions(["delete", *url, "lines"], "") == ["lines", "orders"]
    assert "FileStreamSource" in completions(["plugins", *url], "File")
    assert completions(["describe", "--url", NOBODY], "") == []
    monkeypatch.setenv("COPYCAT_URL", httpserver.url_for(""))
    assert completions(["describe"], "or") == ["orders"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_completes_our_program(run: Run, shell: str) -> None:
    done = run("completion", shell)
    assert done.exit_code == 0
    assert f"_COPYCAT_COMPLETE={shell}_complete" in done.stdout
