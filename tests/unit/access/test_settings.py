"""The keys that say who may use Copycat: what is refused, with which words."""

from __future__ import annotations

from pathlib import Path

import pytest
from copycat_access.settings import read_access
from copycat_access.signing_keys import SigningKeys
from copycat_connect.errors import ConfigError

GOOD = {
    "access.token.issuer": "https://login.example.org/realm",
    "access.token.audience": "copycat",
    "cluster.secret": "a-secret-of-sixteen-and-more",
}


def test_nobody_has_to_log_in_unless_it_is_asked_for() -> None:
    found = read_access({})

    assert (found.tokens, found.rules_file, found.audit_file) == (None, None, None)


def test_what_is_not_said_has_safe_defaults() -> None:
    found = read_access(GOOD).tokens

    assert found is not None
    assert tuple(found.algorithms) == ("RS256", "ES256")
    assert (found.name_claim, found.groups_claim, found.skew_seconds) == ("sub", "groups", 30.0)


@pytest.mark.parametrize(
    ("change", "key", "said"),
    [
        ({"access.token.audience": ""}, "access.token.audience", "a token for any other service would be"),
        ({"access.token.algorithms": "none"}, "access.token.algorithms", "has none: write some of RS256"),
        ({"access.token.algorithms": "RS256,HS256"}, "access.token.algorithms", "has HS256: write some of"),
        ({"access.token.issuer": "http://login.example.org"}, "access.token.issuer", "write an https URL"),
        ({"access.token.jwks": "http://10.0.0.1/keys"}, "access.token.jwks", "write an https URL"),
        ({"access.token.jwks": "ftp://127.0.0.1/keys"}, "access.token.jwks", "write an https URL"),
        ({"access.token.clock.skew.ms": "300001"}, "access.token.clock.skew.ms", "no more than 300000"),
        ({"cluster.secret": ""}, "cluster.secret", "16 or more printable"),
    ],
)
def test_a_setting_that_would_let_others_in_is_refused(change: dict[str, str], key: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as refused:
        read_access({**GOOD, **change})

    assert refused.value.fields["key"] == key


@pytest.mark.parametrize("asked", ["access.token.issuer", "access.rules.file"])
def test_who_asks_for_a_login_needs_the_secret_of_the_cluster(asked: str) -> None:
    wanted = {key: value for key, value in GOOD.items() if key != "cluster.secret"}
    if asked == "access.rules.file":
        wanted = {asked: "rules.toml"}

    with pytest.raises(ConfigError, match=f"{asked} is set and cluster.secret is not"):
        read_access(wanted)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read"),
        ("{", "has no JSON object"),
        ("[]", "has no JSON object"),
        ("{}", "has no public key"),
        ('{"keys": [1, {}, {"kty": "RSA"}, {"kty": "none"}]}', "has no public key"),
        ('{"keys": [{"kty": "oct", "k": "c2VjcmV0LW9mLXNpeHRlZW4tYW5kLW1vcmU"}]}', "has no public key"),
    ],
)
async def test_a_file_of_keys_that_cannot_be_used_ends_the_start(
    tmp_path: Path, content: str | None, said: str
) -> None:
    file = tmp_path / "keys.json"
    if content is not None:
        file.write_text(content)
    tokens = read_access({**GOOD, "access.token.jwks": str(file)}).tokens
    assert tokens is not None

    with pytest.raises(ConfigError, match=f"access.token.jwks cannot be used: .*{said}"):
        SigningKeys(tokens)


def test_authorities_that_cannot_be_read_end_the_start(tmp_path: Path) -> None:
    tokens = read_access({**GOOD, "access.token.jwks.ca": str(tmp_path / "none.pem")}).tokens
    assert tokens is not None

    with pytest.raises(ConfigError, match=r"access\.token\.jwks\.ca names .*cannot be used"):
        SigningKeys(tokens)
