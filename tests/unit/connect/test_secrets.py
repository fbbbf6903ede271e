"""Secrets: how they are read from Vault, and that what a config provider gave does not leave in a text."""

from __future__ import annotations

import base64
import json
import socket
import ssl
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote, quote_plus, urlencode

import pytest
from copycat_connect.config.placeholders import Placeholders, Resolution
from copycat_connect.config.provider import ConfigProvider
from copycat_connect.config.secrets import Redactor, Secrets
from copycat_connect.errors import ConfigError
from copycat_testkit.certificates import Authority
from copycat_testkit.vault import TOKEN, Vault, vault_server
from hypothesis import given
from hypothesis import strategies as st

LINE = "hunter22\n"


class FakeVault(ConfigProvider):
    def get(self, path: str, keys: Collection[str]) -> Mapping[str, str]:
        return {key: {"word": "correct horse", "line": LINE, "pin": "1234"}[key] for key in keys}


READ = Placeholders({"vault": FakeVault()}).read


def test_a_secret_inside_of_a_longer_value_is_found_alone_and_with_what_is_around_it() -> None:
    read = READ({"jaas": 'module required password="${vault:word}";'})

    assert read.secrets.scrub("wrong: correct horse") == "wrong: ${vault:word}"
    assert read.secrets.scrub(read.values["jaas"]) == 'module required password="${vault:word}";'


def test_a_secret_is_found_without_the_line_end_of_its_file() -> None:
    assert READ({"a": "${vault:line}"}).secrets.scrub("got hunter22!") == "got ${vault:line}!"


def test_what_is_too_short_to_tell_or_no_secret_stays() -> None:
    secrets = READ({"a": "${vault:pin}", "b": "plain text", "c": "${other:word}"}).secrets

    assert secrets.scrub("1234 plain text ${other:word}") == "1234 plain text ${other:word}"


def test_a_short_value_is_found_in_a_refusal_where_it_is_a_word() -> None:
    secrets = READ({"a": "${vault:pin}"}).secrets

    assert secrets.scrub_all("1234 is no pin, 12345 is none") == "${vault:pin} is no pin, 12345 is none"


ODD = "pa\"ss w\u00f6rd/+&<\\\n'x"


@pytest.mark.parametrize(
    "spelled",
    [
        ODD,
        repr(ODD),
        repr({"k": ODD}),
        repr(ODD.encode()),
        json.dumps({"k": ODD}),
        json.dumps(ODD, ensure_ascii=False),
        f"http://user:{quote(ODD, safe='')}@host",
        urlencode({"k": ODD}),
        quote_plus(ODD).lower(),
        base64.b64encode(ODD.encode()).decode(),
        base64.b64encode(f"me:{ODD}".encode()).decode(),
        base64.urlsafe_b64encode(f"user:{ODD}:and more".encode()).decode(),
    ],
)
def test_a_secret_is_found_however_it_is_spelled(spelled: str) -> None:
    shown = Secrets.of({ODD: "${vault:odd}"}).scrub(f"got {spelled}, sorry")

    assert "${vault:odd}" in shown
    assert not [part for part in ("pa", "ss", "w\u00f6rd", "rd") if part in shown.removesuffix("sorry")]


def test_a_value_of_several_lines_is_found_line_by_line_too() -> None:
    secrets = Secrets.of({"first line of a key\nsecond line of a key\nend": "${vault:key}"})

    assert secrets.scrub("got\n  second line of a key\n") == "got\n  ${vault:key}\n"


def test_what_is_shown_for_one_secret_is_not_searched_for_another() -> None:
    secrets = Secrets.of({"correct horse": "${vault:secret/data:word}", "secret/data": "${vault:path}"})

    assert secrets.scrub("correct horse") == "${vault:secret/data:word}"
    assert secrets.written("x-correct horse") == "x-${vault:secret/data:word}"


def test_no_text_of_a_configuration_or_of_its_secrets_shows_them() -> None:
    read = READ({"jaas": "password=${vault:word}"})

    assert "horse" not in f"{read} {read.secrets!r}"


SECRET = st.text(st.sampled_from("abc\n \u00e9"), min_size=6, max_size=30).filter(
    lambda s: len(s.strip()) >= 6
)


def cut(text: str, places: list[int]) -> list[str]:
    ends = [0, *sorted(place % (len(text) + 1) for place in places), len(text)]
    return [text[start:end] for start, end in pairwise(ends)]


@given(
    secrets=st.lists(SECRET, min_size=1, max_size=3),
    around=st.lists(st.text(st.sampled_from("abcxyz\n "), max_size=20), min_size=4, max_size=4),
    places=st.lists(st.integers(0, 200), max_size=12),
)
def test_a_secret_is_found_wherever_a_text_is_cut(
    secrets: list[str], around: list[str], places: list[int]
) -> None:
    shown = dict.fromkeys(secrets, "*")
    redactor = Redactor(shown)
    text = "".join(part for pair in zip(around, [*secrets, "", "", ""], strict=False) for part in pair)
    said, held = "", ""
    for piece in cut(text, places):
        out, held = redactor.take(held + piece, more=True)
        said += out
    assert said + redactor.last(held) == redactor.scrub(text)
    assert not [secret for secret in secrets if secret in said]


@pytest.mark.parametrize("kept", range(6, 21))
def test_what_ends_in_the_middle_of_a_secret_does_not_show_its_beginning(kept: int) -> None:
    redactor = Redactor({"correct horse battery": "*"})

    said, held = redactor.take(f"x{'correct horse battery'[:kept]}", more=True)

    assert said + redactor.last(held) == "x*"


def test_values_are_forgotten_when_there_are_too_many() -> None:
    redactor = Redactor(most=2)
    for number in range(3):
        redactor.add({f"number {number} of the secrets": "*"})

    assert redactor.scrub("number 0 of the secrets, number 2 of the secrets") == "number 0 of the secrets, *"


def test_values_may_be_added_while_others_read() -> None:
    redactor = Redactor()

    def work(first: int) -> bool:
        for number in range(first, first + 100):
            redactor.add({f"the secret {number:05}": "*"})
            if redactor.scrub(f"the secret {number:05}") != "*":
                return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(0, 400, 100)))


def test_whoever_listens_hears_of_all_values() -> None:
    redactor, heard = Redactor({"the first secret": "a"}), dict[str, str]()
    redactor.tell(heard.update)
    redactor.add({"the second secret": "b", "short": "c"})

    assert heard == {"the first secret": "a", "the second secret": "b"}


def test_of_a_value_that_is_forgotten_nothing_is_held_back() -> None:
    """Values that Vault lends for an hour come by the thousands in the life of a process."""
    redactor = Redactor(most=1)
    for value in ("zebra-of-monday", "zebra-of-tuesday", "queen-of-wednesday"):
        redactor.add({value: "${vault:word}"})

    assert redactor.take("a zebr", more=True) == ("a zebr", "")
    assert redactor.take("a que", more=True) == ("a ", "que")


def test_what_two_values_have_in_common_stays_hidden_when_one_is_forgotten() -> None:
    redactor = Redactor(most=2)
    for value in ("user=one\npassword=hunter22", "user=two\npassword=hunter22", "queen-of-wednesday"):
        redactor.add({value: "${vault:file}"})

    assert redactor.scrub("sent password=hunter22") == "sent ${vault:file}"


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
