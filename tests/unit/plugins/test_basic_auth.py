"""BasicAuthSecurityRestExtension: who is let in, and what is said about a wrong file."""

from __future__ import annotations

import base64
import logging
from pathlib import Path

import pytest
from copycat_connect.errors import ConfigError
from copycat_connect.plugin import Caller, ClusterState, PluginKind, RestAnswer, RestRequest, load_plugins
from copycat_connect.plugin.rest_extensions import Authenticator, RequestFilter, Resource
from copycat_plugins.rest_extensions.basic_auth import BasicAuthSecurityRestExtension, Users

CLASS = "org.apache.kafka.connect.rest.basic.auth.extension.BasicAuthSecurityRestExtension"
KEY = "rest.basic.auth.file"
REFUSAL = RestAnswer(401, "User cannot access the resource.", "text/plain")


class Registered:
    """What an extension registers with."""

    cluster_state: ClusterState

    def __init__(self) -> None:
        self.authenticators: list[tuple[str, Authenticator]] = []

    def add_authenticator(self, scheme: str, authenticate: Authenticator) -> None:
        self.authenticators.append((scheme, authenticate))

    def add_filter(self, decide: RequestFilter) -> None:
        raise AssertionError

    def add_resource(self, method: str, path: str, answer: Resource) -> None:
        raise AssertionError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "users.properties"
    path.write_text("ann=pa:ss word\nbörn = gehöim\nnobody=\n", "utf-8")
    return path


def guard(file: Path) -> Authenticator:
    """Start the extension as the gateway does and return what it checks callers with."""
    extension = load_plugins().find("BasicAuthSecurityRestExtension", (PluginKind.REST_EXTENSION,)).make()
    assert isinstance(extension, BasicAuthSecurityRestExtension)
    context = Registered()
    extension.configure({"rest.extension.classes": CLASS, KEY: str(file)})
    extension.register(context)
    extension.close()
    ((scheme, only),) = context.authenticators
    assert scheme == "Basic"
    return only


def basic(text: str | bytes, scheme: str = "Basic") -> dict[str, str]:
    raw = text.encode() if isinstance(text, str) else text
    return {"authorization": f"{scheme} {base64.b64encode(raw).decode()}"}


def get(headers: dict[str, str], method: str = "GET", path: str = "/connectors") -> RestRequest:
    return RestRequest(method, path, headers=headers)


@pytest.mark.parametrize("said", ["ann:pa:ss word", "börn:gehöim", "nobody:"])
def test_a_user_with_the_password_is_let_in(file: Path, said: str) -> None:
    caller = Caller(said.partition(":")[0])

    assert guard(file)(get(basic(said))) == caller
    assert guard(file)(get(basic(said, "bAsIc"))) == caller


@pytest.mark.parametrize(
    "headers",
    [
        {},
        basic("ann:other"),
        basic("ann:pa:ss wor"),
        basic("ann:"),
        basic("ann"),
        basic(":pa:ss word"),
        basic("Ann:pa:ss word"),
        basic("stranger:"),
        basic("stranger:pa:ss word"),
        basic(b"ann\xff:pa:ss word"),
        basic("ann:pa:ss word", "Bearer"),
        {"authorization": "Basic"},
        {"authorization": "Basic !!!"},
        {"authorization": f"{basic('ann:pa:ss word')['authorization']}, {basic('x:y')['authorization']}"},
        {"authorization": "ann:pa:ss word"},
    ],
    ids=str,
)
def test_everybody_else_is_refused(file: Path, headers: dict[str, str]) -> None:
    assert guard(file)(get(headers)) == REFUSAL


@pytest.mark.parametrize(
    ("method", "path", "passes"),
    [
        ("POST", "/connectors/a%2Fb/tasks", True),
        ("PUT", "/connectors/a/fence", True),
        ("GET", "/connectors/a/tasks", False),
        ("PUT", "/connectors/a/tasks", False),
        ("POST", "/connectors/a/fence", False),
        ("POST", "/connectors/a/tasks/0/restart", False),
        ("POST", "/connectors/a/b/tasks", False),
        ("POST", "/connectors", False),
    ],
)
def test_only_what_workers_ask_each_other_is_exempt(file: Path, method: str, path: str, passes: bool) -> None:
    assert (guard(file)(get({}, method, path)) is None) == passes


def test_an_empty_file_lets_everybody_in_and_says_so(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    file.write_text("# nobody\n")

    with caplog.at_level(logging.WARNING):
        assert guard(file)(get({})) is None

    assert f"{KEY} names nobody in {file}" in caplog.text


@pytest.mark.parametrize("named", [None, "", "/no/such/file", "/"])
def test_a_file_that_is_not_there_is_told_with_its_key_and_shape(named: str | None) -> None:
    with pytest.raises(ConfigError, match="user=password") as refused:
        BasicAuthSecurityRestExtension().configure({} if named is None else {KEY: named})

    assert refused.value.fields == {"key": KEY}
    assert KEY in refused.value.message
    assert (named or "") in refused.value.message


@pytest.mark.parametrize("content", [rb"ann=s3cret\uZZZZ", b"ann=s3cret\xff"])
def test_a_broken_file_is_refused_without_a_word_of_it(file: Path, content: bytes) -> None:
    file.write_bytes(content)

    with pytest.raises(ConfigError, match=KEY) as refused:
        guard(file)

    told = (refused.value.message, str(refused.value.__cause__), str(refused.value.fields))
    assert "s3cret" not in "".join(told)
    assert refused.value.__suppress_context__


def test_no_password_is_printed() -> None:
    users = Users({"ann": "s3cret"})

    assert "s3cret" not in repr(vars(users))
