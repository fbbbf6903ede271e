"""Where the cluster is, whom it lets in, whom the command line trusts, what is said when it is not well."""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete
from copycat_cli.errors import EXPLAINED, ExitCode
from copycat_cli.sections import SECTIONS
from copycat_launcher.main import copycat
from copycat_testkit.certificates import Authority
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

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


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def tls(authority: Authority) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=authority.file)
    context.load_cert_chain(authority.pem("server"))
    return context


@pytest.fixture
def secure(tls: ssl.SSLContext) -> Iterator[str]:
    """Serve a cluster over https; gives its url."""
    with HTTPServer(ssl_context=tls, host="127.0.0.1") as server:
        server.expect_request(re.compile(".*")).respond_with_handler(FakeConnect())
        yield server.url_for("")


def test_a_certificate_of_a_stranger_is_told_with_what_to_do(run: Run, secure: str) -> None:
    done = run("list", "--url", secure)

    assert done.exit_code == 5
    assert f"The certificate of {secure.rstrip('/')} is not trusted: " in done.stderr
    assert "--ca FILE, or COPYCAT_CA" in done.stderr


def test_a_certificate_may_be_trusted_by_itself(run: Run, secure: str, tmp_path: Path) -> None:
    _, begin, certificate = (tmp_path / "server.pem").read_text().partition("-----BEGIN CERTIFICATE")
    alone = tmp_path / "alone.pem"
    alone.write_text(begin + certificate)

    assert run("list", "--url", secure, "--ca", alone).exit_code == 0


def test_an_authority_is_trusted_by_option_or_variable(run: Run, secure: str, authority: Authority) -> None:
    named = run("list", "--url", secure, "--ca", authority.file)

    assert named.exit_code == 0
    assert (
        f"--url {secure} --ca {authority.file}" in run("list", "--url", secure, "--ca", authority.file).stderr
    )
    assert run("list", COPYCAT_URL=secure, COPYCAT_CA=str(authority.file)).exit_code == 0


def test_a_cluster_that_asks_is_shown_a_certificate(
    run: Run, secure: str, tls: ssl.SSLContext, authority: Authority
) -> None:
    tls.verify_mode = ssl.CERT_REQUIRED
    known = ("list", "--url", secure, "--ca", authority.file)
    refused = run(*known)

    assert refused.exit_code == 5
    assert "--cert FILE" in refused.stderr
    assert run(*known, "--cert", authority.pem("client")).exit_code == 0


@pytest.mark.parametrize("option", ["--ca", "--cert"])
def test_a_file_that_is_no_certificate_is_a_wrong_command_line(run: Run, tmp_path: Path, option: str) -> None:
    file = tmp_path / "file.pem"
    file.write_text("nothing")
    done = run("list", "--url", "https://127.0.0.1:1", option, file)

    assert done.exit_code == 2
    assert f"{option} {file} cannot be used" in done.stderr


def test_a_key_with_a_password_is_told_so_and_asked_of_nobody(run: Run, authority: Authority) -> None:
    done = run("list", "--url", "https://127.0.0.1:1", "--cert", authority.pem("client", password="s3cret"))

    assert done.exit_code == 2
    assert "the key without a password" in done.stderr


def test_http_to_a_port_with_https_is_told_so(run: Run, secure: str) -> None:
    done = run("list", "--url", secure.replace("https", "http"))

    assert done.exit_code == 5
    assert f"--url {secure.rstrip('/')}" in done.stderr
