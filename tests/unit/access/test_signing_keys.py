"""Keys over time: fetched again when old, kept while the issuer is away, never taken over an open network."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from copycat_access.settings import TokenSettings, read_access
from copycat_access.signing_keys import MAX_KEY_AGE_SECONDS, MIN_FETCH_INTERVAL_SECONDS, SigningKeys
from copycat_connect.errors import UnavailableError
from pytest_httpserver import HTTPServer

from tests.issuer import Issuer, an_issuer


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with an_issuer() as made:
        yield made


@pytest.fixture
def clock() -> Clock:
    return Clock()


def settings(issuer: Issuer, **changed: str) -> TokenSettings:
    found = read_access({**issuer.settings, "cluster.secret": "a-secret-of-sixteen", **changed}).tokens
    assert found is not None
    return found


async def test_old_keys_are_fetched_again_so_that_a_withdrawn_one_is_forgotten(
    issuer: Issuer, clock: Clock
) -> None:
    keys = SigningKeys(settings(issuer), clock)
    first = [key.kid for key in await keys.known("rsa-1")]
    issuer.rotate("second")
    clock.now = MAX_KEY_AGE_SECONDS
    kept = [key.kid for key in await keys.known("rsa-1")]
    clock.now += 1

    assert (first, kept) == (["rsa-1"], ["rsa-1"])
    assert [key.kid for key in await keys.known("rsa-1")] == ["second"]
    assert issuer.asked == 2


async def test_an_issuer_that_is_away_is_asked_again_after_a_while_and_keys_stay(
    issuer: Issuer, clock: Clock, httpserver: HTTPServer, caplog: pytest.LogCaptureFixture
) -> None:
    url = httpserver.url_for("/keys")
    keys = SigningKeys(settings(issuer, **{"access.token.jwks": url}), clock)
    for _ in range(3):
        with pytest.raises(UnavailableError, match="could not be had"):
            await keys.known("rsa-1")
    assert len(httpserver.log) == 1, "an answer that is no set of keys is not asked for at once again"

    httpserver.expect_request("/keys").respond_with_json(issuer.key_set())
    clock.now = MIN_FETCH_INTERVAL_SECONDS
    assert [key.kid for key in await keys.known("rsa-1")] == ["rsa-1"]

    httpserver.clear()
    clock.now += MAX_KEY_AGE_SECONDS + 1
    with caplog.at_level(logging.WARNING):
        assert [key.kid for key in await keys.known("rsa-1")] == ["rsa-1"]
    assert f"those before stay in force: {url} answered with 500" in caplog.text


async def test_a_discovery_document_of_another_issuer_or_with_open_keys_is_not_followed(
    issuer: Issuer, clock: Clock, httpserver: HTTPServer, caplog: pytest.LogCaptureFixture
) -> None:
    url = httpserver.url_for("/realm")
    for document, said in (
        ({"issuer": issuer.url, "jwks_uri": issuer.url}, "is about another issuer"),
        ({"issuer": url, "jwks_uri": "http://10.0.0.1/keys"}, "write an https URL"),
        ({"issuer": url}, "cannot be used"),
    ):
        httpserver.clear()
        httpserver.expect_request("/realm/.well-known/openid-configuration").respond_with_json(document)
        caplog.clear()
        keys = SigningKeys(settings(issuer, **{"access.token.issuer": url}), clock)
        with pytest.raises(UnavailableError):
            await keys.known("rsa-1")
        assert said in caplog.text
