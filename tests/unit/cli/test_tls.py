"""Clusters behind https: whom the command line trusts, and what it shows."""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from copycat_testkit.certificates import Authority
from pytest_httpserver import HTTPServer

from tests.unit.cli.conftest import Run
from tests.unit.cli.fake_connect import FakeConnect


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
