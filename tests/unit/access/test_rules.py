"""Rules: what they allow, and what is said about a wrong file."""

from __future__ import annotations

from pathlib import Path

import pytest
from copycat_access.roles import Role, Rules
from copycat_access.rules_file import RulesFile, parse_rules
from copycat_connect.errors import ConfigError
from copycat_connect.plugin import Caller

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
