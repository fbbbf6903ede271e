"""Secrets of Vault, asked of a real HTTP server that speaks its API."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from copycat_connect.config.placeholders import Placeholders, Resolution
from copycat_connect.errors import ConfigError
from copycat_testkit.certificates import Authority
from copycat_testkit.vault import TOKEN, Vault, vault_server

WORD = "the word of the test"


@pytest.fixture
def vault() -> Iterator[Vault]:
    with vault_server() as running:
        running.secrets = {
            "secret/data/orders": {"password": WORD, "port": 5432},
            "kv/orders": {"password": "of version 1"},
        }
        yield running


def worker(vault: Vault, **params: str) -> dict[str, str]:
    given = {"address": vault.address, "token": TOKEN} | {
        name.replace("_", "."): text for name, text in params.items()
    }
    return {
        "config.providers": "vault",
        "config.providers.vault.class": "VaultConfigProvider",
        **{f"config.providers.vault.param.{name}": text for name, text in given.items() if text},
    }


def read(text: str, vault: Vault, **params: str) -> Resolution[str]:
    return Placeholders.from_worker(worker(vault, **params), {}).read({"k": text})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("jdbc:${vault:secret/data/orders:password}", f"jdbc:{WORD}"),
        ("${vault:/secret/data/orders:port}", "5432"),
        ("${vault:kv/orders:password}", "of version 1"),
        ("${vault:kv/orders:nothing}", "${vault:kv/orders:nothing}"),
    ],
)
def test_values_come_from_both_versions_of_the_engine(text: str, value: str, vault: Vault) -> None:
    assert read(text, vault).values["k"] == value


def test_they_are_secrets(vault: Vault) -> None:
    found = read("${vault:secret/data/orders:password}", vault)
    assert found.secrets.scrub(f"cannot log in with {WORD}").endswith("${vault:secret/data/orders:password}")


def test_the_token_may_be_renewed_in_its_file(vault: Vault, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    found = Placeholders.from_worker(worker(vault, token="", token_file=str(file), namespace="team"), {})
    asked = {"k": "${vault:secret/data/orders:password}"}
    assert found.resolve(asked)["k"] == WORD
    vault.token = "hvs.renewed"
    file.write_text(vault.token)
    assert found.resolve(asked)["k"] == WORD
    assert set(vault.asked) == {("secret/data/orders", "team")}


def test_a_token_file_that_never_ends_is_not_read(vault: Vault) -> None:
    found = Placeholders.from_worker(worker(vault, token="", token_file="/dev/zero"), {})
    with pytest.raises(ConfigError, match="Could not read the token of Vault from /dev/zero"):
        found.resolve({"k": "${vault:secret/data/orders:password}"})


def test_address_and_token_may_be_variables(vault: Vault) -> None:
    variables = {"VAULT_ADDR": vault.address, "VAULT_TOKEN": TOKEN}
    written = {key: text for key, text in worker(vault).items() if ".param." not in key}
    found = Placeholders.from_worker(written, variables)
    assert found.resolve({"k": "${vault:kv/orders:password}"}) == {"k": "of version 1"}


@pytest.mark.parametrize(
    ("lease", "ttl", "expected"), [(0, "", None), (60, "", 60_000), (60, "500", 500), (0, "500", 500)]
)
def test_values_count_for_their_lease(lease: int, ttl: str, expected: int | None, vault: Vault) -> None:
    vault.lease_seconds = lease
    assert read("${vault:kv/orders:password}", vault, ttl_ms=ttl).ttl_ms == expected
    assert read("no placeholder", vault, ttl_ms=ttl).ttl_ms is None


def test_a_server_with_tls_is_asked_if_its_authority_is_trusted(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(authority.pem("vault"))
    tls.load_verify_locations(authority.file)
    tls.verify_mode = ssl.CERT_REQUIRED
    own = str(authority.pem("worker"))
    with vault_server(tls) as vault:
        vault.secrets["kv/orders"] = {"password": WORD}
        text = "${vault:kv/orders:password}"
        stores = {"ssl_truststore_location": str(authority.file), "ssl_keystore_location": own}
        assert read(text, vault, **stores).values["k"] == WORD
        with pytest.raises(ConfigError, match=r"gives no answer for kv/orders \(SSLCertVerificationError\)"):
            read(text, vault)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ((403, b"%s"), "Vault answers 403 for kv/orders: the token is not valid, or its policy"),
        ((404, b"%s"), "Vault answers 404 for kv/orders: there is no such secret"),
        ((503, b"%s"), "Vault answers 503 for kv/orders: it is sealed"),
        ((307, b"http://127.0.0.1:1/elsewhere"), "Vault answers 307 for kv/orders"),
        ((200, b'{"data":"%s"}'), "Vault has no values at kv/orders"),
        ((200, b"no JSON, but %s"), "gives no answer for kv/orders (JSONDecodeError)"),
        ((200, b"%s" * 100_000), "gives no answer for kv/orders (_TooLongError)"),
    ],
)
def test_no_error_tells_a_value(answer: tuple[int, bytes], says: str, vault: Vault) -> None:
    vault.answers["kv/orders"] = answer[0], answer[1].replace(b"%s", WORD.encode())
    with pytest.raises(ConfigError) as caught:
        read("${vault:kv/orders:password}", vault)
    assert says in caught.value.message
    assert not any(word in caught.value.message for word in (WORD, TOKEN))


def test_a_server_that_does_not_answer_is_waited_for_no_longer_than_said(vault: Vault) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        vault.address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(ConfigError, match=r"gives no answer for kv/orders \(TimeoutError\)"):
            read("${vault:kv/orders:password}", vault, timeout_ms="50")


@pytest.mark.parametrize("path", ["", "/", "../sys/seal", "secret/../sys", "other/orders", "kvs/orders"])
def test_other_paths_are_not_asked_for(path: str, vault: Vault) -> None:
    with pytest.raises(ConfigError):
        read(f"${{vault:{path}:password}}", vault, allowed_paths="secret/data, kv")
    assert vault.asked == []


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"address": ""}, "address of VaultConfigProvider is not set: write it as https://HOST:PORT"),
        ({"address": "file:///etc"}, "address of VaultConfigProvider has 'file:///etc'"),
        ({"address": "http://vault.example:8200"}, "the token would be read on its way: write https://"),
        ({"token": ""}, "has no token: set token.file, token or VAULT_TOKEN"),
        ({"ttl_ms": "soon"}, "ttl.ms of VaultConfigProvider has 'soon': write milliseconds"),
        ({"adress": "x"}, "VaultConfigProvider has no parameter adress: use address, token"),
        ({"ssl_truststore_location": "/dev/zero"}, "ssl.truststore.location of VaultConfigProvider has"),
        ({"ssl_truststore_location": "/nowhere"}, "ssl.truststore.location of VaultConfigProvider has"),
    ],
)
def test_wrong_parameters_are_named_with_their_fix(params: dict[str, str], says: str, vault: Vault) -> None:
    with pytest.raises(ConfigError) as caught:
        read("x", vault, **params)
    assert says in caught.value.message
