"""REST refuses whoever is not known, not sure or not allowed, and nothing of it is done."""

from __future__ import annotations

import ssl

import httpx2
import pytest
from copycat_testkit.kafka import wait_until

from tests.integration.refusals.guarded import CONNECTOR, Guarded
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
