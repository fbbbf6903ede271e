"""Rules and keys: what they allow, what is said of wrong ones, when keys of an issuer are fetched again."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from copycat_access.roles import Role, Rules
from copycat_access.rules_file import RulesFile, parse_rules
from copycat_access.settings import TokenSettings, read_access
from copycat_access.signing_keys import MAX_KEY_AGE_SECONDS, MIN_FETCH_INTERVAL_SECONDS, SigningKeys
from copycat_connect.errors import ConfigError, UnavailableError
from copycat_connect.plugin import Caller
from pytest_httpserver import HTTPServer

from tests.issuer import Issuer, an_issuer

ANN = Caller("ann", frozenset({"staff"}))


def rules(role: str, connectors: str, who: str = 'users = ["ann"]') -> Rules:
    return parse_rules(f'[[rule]]\nrole = "{role}"\n{who}\nconnectors = {connectors}\n')


def test_a_role_includes_those_before_it() -> None:
    given = rules("operator", '["orders"]')

    assert [given.on_connector(ANN, role, "orders") for role in Role] == [True, True, False]


@pytest.mark.parametrize(
    ("pattern", "name", "covered"),
    [
        ("orders-*", "orders-eu", True),
        ("orders-*", "orders", False),
        ("orders-*", "my-orders-eu", False),
        ("orders-*", "Orders-eu", False),
        ("orders-?", "orders-1", True),
        ("orders-[ab]", "orders-c", False),
        ("*", "a/b ü", True),
        ("*", "", True),
        ("a.c", "abc", False),
        ("*-eu", "orders-eu\n", False),
    ],
)
def test_a_pattern_is_for_the_whole_name(pattern: str, name: str, covered: bool) -> None:
    assert rules("viewer", f'["{pattern}"]').on_connector(ANN, Role.VIEWER, name) == covered


def test_many_names_are_held_against_all_patterns_of_all_rules_of_a_caller() -> None:
    given = Rules((*rules("viewer", '["a|b", "orders-*"]').rules, *rules("operator", '["bills"]').rules))
    names = ("a|b", "a", "b", "orders-eu", "bills", "bills-eu", "")

    assert [name for name in names if given.covering(ANN, Role.VIEWER)(name)] == ["a|b", "orders-eu", "bills"]
    assert [name for name in names if given.covering(ANN, Role.OPERATOR)(name)] == ["bills"]
    assert not any(given.covering(Caller("eve"), Role.VIEWER)(name) for name in names)


def test_users_and_groups_are_told_apart() -> None:
    by_group = rules("admin", '["*"]', 'groups = ["staff"]')

    assert by_group.everywhere(ANN, Role.ADMIN)
    assert not by_group.everywhere(Caller("staff"), Role.ADMIN)
    assert not rules("admin", '["*"]').anywhere(Caller("eve", frozenset({"ann"})), Role.VIEWER)


def test_nobody_has_a_role_who_is_not_known() -> None:
    assert not rules("admin", '["*"]').anywhere(None, Role.VIEWER)


def test_a_role_for_all_connectors_is_one_for_the_pattern_of_all() -> None:
    assert not rules("viewer", '["a*", "?*"]').everywhere(ANN, Role.VIEWER)
    assert rules("viewer", '["a*", "*"]').everywhere(ANN, Role.VIEWER)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[rule]\n", "it is not TOML: Expected ']]' at the end of an array declaration (at line 1"),
        ("", "it has no rule, so that nobody may do anything: write [[rule]] with role"),
        ("[[rules]]\n", "it has the key 'rules', which is not known: write [[rule]]"),
        ('rule = "x"', "'rule' is not a list of tables"),
        ('[[rule]]\nusers = ["ann"]\nconnectors = ["*"]', "rule 1 lacks role: write one of viewer, operator"),
        ('[[rule]]\nrole = "owner"', "rule 1 has role = 'owner': write one of viewer, operator, admin"),
        ('[[rule]]\nrole = "admin"\nconnectors = ["*"]', 'rule 1 is for nobody: write users = ["ann"]'),
        ('[[rule]]\nrole = "admin"\nusers = "ann"', 'rule 1 has users that are not a list of names'),
        ('[[rule]]\nrole = "admin"\nusers = [""]', "rule 1 has users that are not a list of names"),
        ('[[rule]]\nrole = "admin"\nusers = ["ann"]', "rule 1 lacks connectors: write connectors"),
        ('[[rule]]\nrole = "admin"\nuser = ["ann"]', "rule 1 has the key 'user', which is not known"),
        (
            '[[rule]]\nrole = "viewer"\nusers = ["a"]\nconnectors = ["*"]\n[[rule]]\nrole = 3',
            "rule 2 has role = 3: write one of",
        ),
    ],
)  # fmt: skip
def test_a_wrong_file_is_told_with_its_place_and_the_fix(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_rules(text)

    assert said in refused.value.message


def test_a_file_that_cannot_be_read_at_the_start_is_told_with_its_key(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"access\.rules\.file names .*cannot be read") as refused:
        RulesFile(str(tmp_path / "none.toml"))

    assert refused.value.fields == {"key": "access.rules.file"}


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
