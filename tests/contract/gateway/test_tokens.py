"""Tokens over REST: who is let in, who is refused with which answer, and how keys are rotated."""

from __future__ import annotations

import base64
import hmac
import json
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import httpx2
import pytest
from copycat_embedded.ports import free_ports
from joserfc.jwk import ECKey
from pytest_httpserver import HTTPServer

from tests.contract.gateway.world import World, guarded
from tests.issuer import RSA, Issuer, bearer, part


@pytest.fixture
async def guest(issuer: Issuer) -> AsyncIterator[World]:
    """A gateway that accepts the issuer's tokens."""
    async with guarded(issuer) as made:
        yield made


async def get(world: World, token: str) -> httpx2.Response:
    return await world.rest.get("/connectors", headers=bearer(token))


async def test_a_good_token_is_let_in_on_every_scheme_of_case(guest: World, issuer: Issuer) -> None:
    token = issuer.token("ann")

    assert (await get(guest, token)).status_code == 200
    assert (await guest.rest.get("/", headers={"Authorization": f"bEaReR  {token}"})).status_code == 200
    assert (await get(guest, issuer.token("ann", aud=["other", "copycat"]))).status_code == 200
    assert issuer.asked == 1, "keys are kept"


def swapped(token: str, *, payload: str = "", signature: str = "") -> str:
    """Return the token with other parts."""
    header, claims, signed = token.split(".")
    return ".".join((header, payload or claims, signature or signed))


def unsigned(issuer: Issuer) -> str:
    return f"{part({'alg': 'none', 'kid': RSA.kid})}.{issuer.token('eve').split('.')[1]}."


def signed_with_the_public_key(issuer: Issuer) -> str:
    """The key that everybody knows, taken for a shared secret."""
    signed = f"{part({'alg': 'HS256', 'kid': RSA.kid})}.{issuer.token('eve').split('.')[1]}"
    seal = hmac.digest(RSA.as_pem(private=False), signed.encode(), "sha256")
    return f"{signed}.{base64.urlsafe_b64encode(seal).rstrip(b'=').decode()}"


FAR = 10**6
BAD: dict[str, tuple[Callable[[Issuer], str], str]] = {
    "expired": (lambda issuer: issuer.token("ann", exp=int(time.time()) - FAR), "has expired"),
    "not yet valid": (lambda issuer: issuer.token("ann", nbf=int(time.time()) + FAR), "not valid yet"),
    "without an end": (lambda issuer: issuer.token("ann", exp=None), "lacks claims that are needed: exp"),
    "an end that is no number": (lambda issuer: issuer.token("ann", exp="never"), "expired"),
    "of another issuer": (lambda issuer: issuer.token("ann", iss="https://evil"), "another issuer"),
    "without an issuer": (lambda issuer: issuer.token("ann", iss=None), "needed: iss"),
    "for another audience": (lambda issuer: issuer.token("ann", aud="grafana"), "another audience"),
    "for nobody": (lambda issuer: issuer.token("ann", aud=None), "needed: aud"),
    "without a name": (lambda issuer: issuer.token("ann", sub=None), "its claim sub is no name"),
    "a name too long": (lambda issuer: issuer.token("a" * 101), "its claim sub is no name"),
    "unsigned": (unsigned, "in a way that is not accepted"),
    "signed with the public key": (signed_with_the_public_key, "in a way that is not accepted"),
    "signed by a stranger": (lambda issuer: issuer.forged("eve"), "The token was refused"),
    "with other claims": (
        lambda issuer: swapped(issuer.token("ann"), payload=issuer.token("eve").split(".")[1]),
        "signature is wrong",
    ),
    "with another signature": (
        lambda issuer: swapped(issuer.token("ann"), signature=issuer.token("eve").split(".")[2]),
        "signature is wrong",
    ),
    "cut off": (lambda issuer: issuer.token("ann")[:-5], "The token was refused"),
    "no token at all": (lambda _: "s3cret-words", "it is malformed"),
    "a critical header": (
        lambda issuer: f"{part({'alg': 'RS256', 'crit': ['x'], 'x': 1})}.{part({})}.{part({})}",
        "The token was refused",
    ),
    "too long": (lambda issuer: "a" * 33_000, "more than 32768 characters"),
}


async def test_a_bad_token_is_refused_with_the_reason_and_nothing_of_it(guest: World, issuer: Issuer) -> None:
    for kind, (make, reason) in BAD.items():
        token = make(issuer)

        reply = await get(guest, token)

        assert (reply.status_code, reply.json()["error_code"]) == (401, 401), kind
        assert reason in reply.json()["message"], kind
        assert token[:12] not in reply.text, kind
        assert reply.headers["www-authenticate"] == 'Bearer realm="copycat", error="invalid_token"', kind


async def test_every_path_and_method_asks_for_a_token(guest: World) -> None:
    for path in ("/", "/connectors", "/connectors/a", "/admin/loggers", "/openapi", "/metrics", "/no/such"):
        for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
            reply = await guest.rest.request(method, path)
            assert (reply.status_code, reply.headers["www-authenticate"]) == (401, 'Bearer realm="copycat"')
            assert method == "HEAD" or reply.json()["error_code"] == 401


async def test_admin_on_a_listener_of_its_own_asks_for_a_token_too(issuer: Issuer) -> None:
    admin = f"http://127.0.0.1:{free_ports(1)[0]}"
    async with guarded(issuer, admin_listeners=admin), httpx2.AsyncClient(base_url=admin) as client:
        for method, path in (("GET", "/admin/loggers"), ("PUT", "/admin/loggers/root"), ("GET", "/no/such")):
            assert (await client.request(method, path)).status_code == 401
        assert (await client.get("/admin/loggers", headers=bearer(issuer.token("ann")))).status_code == 200


async def test_clocks_may_differ_by_as_much_as_is_set(issuer: Issuer) -> None:
    late = {"exp": int(time.time()) - 60}
    async with guarded(issuer, access_token_clock_skew_ms="300000") as world:
        assert (await get(world, issuer.token("ann", **late))).status_code == 200
    async with guarded(issuer, access_token_clock_skew_ms="0") as world:
        assert (await get(world, issuer.token("ann", **late))).status_code == 401


async def test_a_new_key_is_fetched_and_made_up_ones_do_not_flood_the_issuer(
    guest: World, issuer: Issuer
) -> None:
    before = issuer.token("ann")
    assert (await get(guest, before)).status_code == 200

    issuer.rotate("ec-2")
    assert (await get(guest, issuer.token("ann"))).status_code == 200
    assert issuer.asked == 2
    assert (await get(guest, before)).status_code == 401, "the former key is withdrawn"

    for number in range(20):
        issuer.key = ECKey.generate_key("P-256", {"kid": f"made-up-{number}"})
        reply = await get(guest, issuer.token("eve"))
        assert (reply.status_code, issuer.asked) == (401, 2)
    assert "a key that its issuer does not have" in reply.json()["message"]


async def test_keys_may_stand_in_a_file_that_is_read_again(issuer: Issuer, tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    file.write_text(json.dumps(issuer.key_set()))
    async with guarded(issuer, access_token_jwks=str(file)) as world:
        assert (await get(world, issuer.token("ann"))).status_code == 200
        issuer.rotate("ec-file")
        assert (await get(world, issuer.token("ann"))).status_code == 401
        file.write_text(json.dumps(issuer.key_set()) + "\n")
        assert (await get(world, issuer.token("ann"))).status_code == 200
        file.write_text("broken")
        assert (await get(world, issuer.token("ann"))).status_code == 200, "those before stay in force"
    assert issuer.asked == 0


async def test_an_issuer_that_is_away_holds_up_no_start_and_is_no_fault_of_the_caller(
    issuer: Issuer,
) -> None:
    with HTTPServer(host="127.0.0.1", port=0) as away:
        url = away.url_for("/realm")
    async with guarded(issuer, access_token_jwks=url) as world:
        reply = await get(world, issuer.token("ann"))

    assert reply.status_code == 503
    assert "keys of access.token.issuer could not be had" in reply.json()["message"]


async def test_a_token_and_a_password_are_accepted_side_by_side(issuer: Issuer, tmp_path: Path) -> None:
    users = tmp_path / "users.properties"
    users.write_text("ann=pass\n")
    async with guarded(issuer, users=users) as world:
        assert (await get(world, issuer.token("bob"))).status_code == 200
        assert (await world.rest.get("/connectors", auth=("ann", "pass"))).status_code == 200

        wrong = await world.rest.get("/connectors", auth=("ann", "other"))
        none = await world.rest.get("/connectors")
        other = await world.rest.get("/connectors", headers={"Authorization": "Digest x"})
        bad = await get(world, "s3cret")

    for reply in (wrong, none, other):
        assert reply.status_code == 401
        assert reply.headers["www-authenticate"] == 'Bearer realm="copycat", Basic realm="copycat"'
    assert bad.headers["www-authenticate"].startswith('Bearer realm="copycat", error="invalid_token", Basic')


async def test_a_users_file_without_users_opens_no_way_round_tokens(issuer: Issuer, tmp_path: Path) -> None:
    users = tmp_path / "users.properties"
    users.write_text("# nobody\n")
    async with guarded(issuer, users=users) as world:
        assert (await world.rest.get("/connectors")).status_code == 401
        assert (await world.rest.get("/connectors", auth=("ann", "x"))).status_code == 401
        assert (await world.rest.post("/connectors/a/tasks", json=[])).status_code == 401
        assert (await get(world, issuer.token("ann"))).status_code == 200
