"""REST, lists and watches refuse and hide what is not for the caller; open ports are documented ones."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import httpx2
import pytest
from copycat_launcher.roles import SERVICES as OWNERS
from copycat_rpc.users.shown import SHOWN
from copycat_testkit.kafka import wait_until

from tests.integration.listening import LOOPBACK, SERVICES, documented, hosts, listening, ports_by_kind
from tests.integration.refusals.conftest import CONNECTOR, SECONDS, Guarded, showing
from tests.issuer import bearer

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

#: What would show: each of them acts on the one connector.
ACTS = (
    ("DELETE", f"/connectors/{CONNECTOR}"),
    ("PUT", f"/connectors/{CONNECTOR}/stop"),
    ("DELETE", f"/connectors/{CONNECTOR}/offsets"),
    ("POST", f"/connectors/{CONNECTOR}/restart"),
)


def test_a_certificate_and_a_token_of_the_right_role_are_let_in(guarded: Guarded) -> None:
    with guarded.http(guarded.certificates.known) as client:
        answer = client.get("/connectors", headers=bearer(guarded.issuer.token("ann")))

    assert (answer.status_code, answer.json()) == (200, [CONNECTOR])


def test_who_shows_nothing_or_something_wrong_is_not_known(guarded: Guarded) -> None:
    tokens = {"nothing": "", "the secret": guarded.secret, **guarded.bad_tokens()}
    with guarded.http(guarded.certificates.known) as client:
        for wrong, token in tokens.items():
            for method, path in ACTS:
                answer = client.request(method, path, headers=bearer(token) if token else {})
                assert answer.status_code == 401, (wrong, method, path)
                assert not token or token not in answer.text


def test_a_role_for_other_connectors_is_not_enough(guarded: Guarded) -> None:
    before = len(guarded.denials())
    with guarded.http(guarded.certificates.known) as client:
        for method, path in ACTS:
            answer = client.request(method, path, headers=bearer(guarded.issuer.token("bob")))
            assert answer.status_code == 403, (method, path)
        shown = client.get("/connectors", headers=bearer(guarded.issuer.token("bob")))

    assert shown.json() == []
    assert [line["by"] for line in guarded.denials()[before:]] == ["bob"] * len(ACTS)


def test_who_may_look_may_do_nothing(guarded: Guarded) -> None:
    with guarded.http(guarded.certificates.known) as client:
        eve = bearer(guarded.issuer.token("eve"))
        for method, path in ACTS:
            assert client.request(method, path, headers=eve).status_code == 403, (method, path)
        assert client.get("/connectors", headers=eve).json() == [CONNECTOR]


@pytest.mark.parametrize(
    "page",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
    ],
)
def test_the_page_of_another_site_may_do_nothing_in_the_browser_of_who_may(
    guarded: Guarded, page: dict[str, str]
) -> None:
    before = len(guarded.denials())
    with guarded.http(guarded.certificates.known) as client:
        ann = {**bearer(guarded.issuer.token("ann")), **page}
        for method, path in ACTS:
            answer = client.request(method, path, headers=ann)
            assert (answer.status_code, answer.json()["error_code"]) == (403, 403), (method, path)
        assert client.get("/connectors", headers=ann).status_code == 403

    def told() -> bool:
        return len(guarded.denials()) == before + len(ACTS) + 1

    wait_until(told, what="each refusal is a line of the audit, which is written after the answer")


@pytest.mark.parametrize("shown", [None, "foreign", "expired"])
def test_without_a_certificate_that_is_trusted_there_is_no_connection(
    guarded: Guarded, shown: str | None
) -> None:
    certificate = getattr(guarded.certificates, shown) if shown else None
    with guarded.http(certificate) as client, pytest.raises((httpx2.TransportError, ssl.SSLError)):
        client.get("/connectors", headers=bearer(guarded.issuer.token("ann")))


def test_plain_http_is_not_understood(guarded: Guarded) -> None:
    with pytest.raises(httpx2.TransportError):
        httpx2.get(
            f"http://{guarded.rest}/connectors", headers=bearer(guarded.issuer.token("ann")), timeout=60
        )


def answers(guarded: Guarded, path: str, token: str) -> Iterator[Any]:
    """Yield the answers to a call, of a watch up to the end of its snapshot."""
    role, method = path.split(".")[1], path.rpartition("/")[2]
    contract = import_module(f"copycat.{role}.v1.{role}_service_pb2")
    request = getattr(contract, f"{method}Request")()
    kinds = {
        "request_serializer": lambda message: message.SerializeToString(),
        "response_deserializer": getattr(contract, f"{method}Response").FromString,
    }
    shown = showing(token)
    with guarded.channel(role, guarded.certificates.known) as channel:
        if not method.startswith("Watch"):
            yield channel.unary_unary(path, **kinds)(request, metadata=shown, timeout=SECONDS)
            return
        for each in channel.unary_stream(path, **kinds)(request, metadata=shown, timeout=SECONDS):
            yield each
            if each.snapshot_complete:
                return


@pytest.mark.parametrize("path", SHOWN)
def test_only_those_who_may_see_a_connector_are_told_of_it(guarded: Guarded, path: str) -> None:
    def told(token: str) -> bool:
        found = list(answers(guarded, path, token))
        assert found, "no answer, which is not the same as an empty one"
        return any(CONNECTOR.encode() in each.SerializeToString() for each in found)

    tokens = {name: guarded.issuer.token(name) for name in ("ann", "eve", "bob")}
    assert {name: told(token) for name, token in tokens.items()} == {"ann": True, "eve": True, "bob": False}
    assert told(guarded.secret)


def test_services_that_share_a_process_listen_where_each_would(guarded: Guarded) -> None:
    found = listening(guarded.pid)
    of_each = dict(documented())
    together = {SERVICES: sum(of_each.pop(role.name) for role in OWNERS), **of_each}

    assert ports_by_kind(found) == together
    assert hosts(found) <= LOOPBACK
    assert {int(guarded.address(role.name).rpartition(":")[2]) for role in OWNERS} <= {
        port for _, port in found[SERVICES]
    }
