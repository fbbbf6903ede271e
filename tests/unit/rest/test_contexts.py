"""Whether this machine can call its own listener is known at the start."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from copycat_connect.errors import ConfigError
from copycat_rest.contexts import own_context, server_context
from copycat_testkit.certificates import SERVER, Authority
from copycat_tls.keys import REST_PREFIX, read_tls
from cryptography.x509 import ObjectIdentifier

LISTENERS = {"listeners": "https://127.0.0.1:0"}


def keys(keystore: Path, **more: object) -> dict[str, str]:
    given = {"keystore.type": "PEM", "keystore.location": keystore, "truststore.type": "PEM"}
    more = {name.replace("_", "."): value for name, value in more.items()}
    return {f"{REST_PREFIX}ssl.{key}": str(value) for key, value in {**given, **more}.items()}


def test_http_needs_no_tls(tmp_path: Path) -> None:
    file = Authority(tmp_path).pem("server")

    assert own_context({"listeners": "https://h:1,http://h:2", **keys(file)}) is None


def test_it_trusts_its_own_certificate_whoever_signed_it(tmp_path: Path) -> None:
    file = Authority(tmp_path).pem("server", uses=(SERVER,))

    assert own_context(LISTENERS | keys(file)) is not None


@pytest.mark.parametrize("protocol", ["TLSv1.2", "TLSv1.3"])
def test_it_is_its_own_client_where_clients_must_be_known(tmp_path: Path, protocol: str) -> None:
    authority = Authority(tmp_path)
    trust = {"truststore_location": authority.file, "enabled_protocols": protocol}

    assert own_context(LISTENERS | keys(authority.pem("server"), client_auth="required", **trust)) is not None


@pytest.mark.parametrize("protocol", ["TLSv1.2", "TLSv1.3"])
@pytest.mark.parametrize(
    ("authority", "uses", "days", "key", "reason"),
    [
        ("stranger", (SERVER,), 1, "truststore", "unable to get local issuer certificate"),
        ("authority", (SERVER,), 1, "truststore", "purpose"),
        ("authority", (SERVER,), -1, "keystore", "certificate has expired"),
    ],
)
def test_a_listener_that_would_not_let_its_machine_in_is_refused(  # noqa: PLR0917 - the cases
    tmp_path: Path,
    authority: str,
    uses: Sequence[ObjectIdentifier],
    days: int,
    key: str,
    reason: str,
    protocol: str,
) -> None:
    file = Authority(tmp_path).pem("server", uses=uses, days=days)
    trusted = tmp_path / "authority.pem" if authority == "authority" else Authority(tmp_path, "stranger").file
    more = {"truststore_location": trusted, "client_auth": "required", "enabled_protocols": protocol}
    with pytest.raises(ConfigError, match=reason) as refused:
        own_context(LISTENERS | keys(file, **more))

    assert refused.value.fields == {"key": f"{REST_PREFIX}ssl.{key}.location"}


def test_clients_cannot_be_known_without_a_truststore(tmp_path: Path) -> None:
    file = Authority(tmp_path).pem("server")
    with pytest.raises(ConfigError, match=r"https\.ssl\.truststore\.location is not set"):
        server_context(read_tls(keys(file, client_auth="requested"), REST_PREFIX))
