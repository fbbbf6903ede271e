"""Listeners with https: what they serve, to whom, beside those with http."""

from __future__ import annotations

import ssl
from pathlib import Path

import httpx2
import pytest
from copycat_connect.errors import ConfigError
from copycat_embedded.ports import free_ports
from copycat_testkit.certificates import Authority

from tests.contract.gateway.world import World, running

KEYS = "listeners.https.ssl."


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


def shown(authority: Authority, prefix: str = KEYS) -> dict[str, str]:
    """Return the keys of a listener's certificate."""
    return {f"{prefix}keystore.type": "PEM", f"{prefix}keystore.location": str(authority.pem("server"))}


def trusting(authority: Authority) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=authority.file)


async def status(url: str, tls: ssl.SSLContext) -> int:
    async with httpx2.AsyncClient(verify=tls, timeout=30) as client:
        return (await client.get(url)).status_code


async def test_http_and_https_serve_side_by_side(bare: World, authority: Authority) -> None:
    plain, secure = free_ports(2)
    listeners = f"https://127.0.0.1:{secure},http://127.0.0.1:{plain}"
    await bare.open_gateway(listeners=listeners, **shown(authority))

    assert bare.rest.base_url.port == plain
    assert await status(f"http://127.0.0.1:{plain}/connectors", trusting(authority)) == 200
    assert await status(f"https://127.0.0.1:{secure}/connectors", trusting(authority)) == 200


async def test_a_location_leads_back_over_https(cluster: World, authority: Authority) -> None:
    async with (
        running({**cluster.settings, "listeners": "https://127.0.0.1:0", **shown(authority)}) as bound,
        httpx2.AsyncClient(verify=trusting(authority), base_url=f"https://{bound}") as client,
    ):
        body = {"name": "c", "config": {"connector.class": "FileStreamSource", "topic": "t"}}
        made = await client.post("/connectors", json=body)

    assert (made.status_code, made.headers["location"]) == (201, f"https://{bound}/connectors/c")


@pytest.mark.parametrize(
    ("asked", "certificate", "let_in"),
    [
        ("none", "", True),
        ("requested", "", True),
        ("requested", "known", True),
        ("required", "", False),
        ("required", "known", True),
        ("required", "unknown", False),
    ],
)
async def test_clients_are_let_in_as_asked(
    bare: World, authority: Authority, asked: str, certificate: str, let_in: bool
) -> None:
    keys = {f"{KEYS}client.auth": asked, f"{KEYS}truststore.type": "PEM"}
    keys[f"{KEYS}truststore.location"] = str(authority.file)
    tls = trusting(authority)
    if certificate:
        signer = authority if certificate == "known" else Authority(authority.file.parent, "stranger")
        tls.load_cert_chain(signer.pem("client"))
    settings = {**bare.settings, "listeners": "https://127.0.0.1:0", **shown(authority), **keys}
    async with running(settings) as bound:
        if let_in:
            assert await status(f"https://{bound}/", tls) == 200
        else:
            with pytest.raises(httpx2.TransportError):
                await status(f"https://{bound}/", tls)


async def test_only_the_enabled_protocols_are_spoken(bare: World, authority: Authority) -> None:
    newer = {**bare.settings, "listeners": "https://127.0.0.1:0", **shown(authority)}
    newer[f"{KEYS}enabled.protocols"] = "TLSv1.3"
    old = trusting(authority)
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    async with running(newer) as bound:
        assert await status(f"https://{bound}/", trusting(authority)) == 200
        with pytest.raises(httpx2.TransportError):
            await status(f"https://{bound}/", old)


async def test_admin_has_a_certificate_of_its_own(bare: World, authority: Authority, tmp_path: Path) -> None:
    other = Authority(tmp_path, "other")
    admin = free_ports(1)[0]
    keys = {"admin.listeners": f"https://127.0.0.1:{admin}", **shown(other, f"admin.{KEYS}")}
    async with running({**bare.settings, "listeners": "http://127.0.0.1:0", **keys}):
        assert await status(f"https://127.0.0.1:{admin}/admin/loggers", trusting(other)) == 200


async def test_without_a_certificate_it_does_not_start(bare: World) -> None:
    with pytest.raises(ConfigError, match=r"ssl\.keystore\.location is not set"):
        async with running({**bare.settings, "listeners": "https://127.0.0.1:0"}):
            pass
