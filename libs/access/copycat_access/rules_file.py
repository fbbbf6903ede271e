"""The file of rules: read at the start, and again when it was changed."""

from __future__ import annotations

import logging
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from copycat_connect.errors import ConfigError
from copycat_connect.files import read_named_file
from copycat_telemetry.changes import log_change

from copycat_access.roles import Role, Rule, Rules
from copycat_access.settings import RULES_FILE

log = logging.getLogger(__name__)

KEYS: Final = ("role", "users", "groups", "connectors")
ROLES: Final = {role.label: role for role in Role}
EXAMPLE: Final = (
    '[[rule]] with role = "viewer", users = ["ann"] or groups = ["staff"], connectors = ["orders-*"]'
)


def parse_rules(text: str) -> Rules:
    """Read TOML: tables `[[rule]]` with `role`, `connectors` and `users` or `groups`.

    Raises:
        ConfigError: It has another shape; the message says where and what to write.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"it is not TOML: {error}") from error
    for key in document:
        if key != "rule":
            raise ConfigError(f"it has the key '{key}', which is not known: write {EXAMPLE}")
    tables = document.get("rule", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ConfigError(f"'rule' is not a list of tables: write {EXAMPLE}")
    if not tables:
        raise ConfigError(f"it has no rule, so that nobody may do anything: write {EXAMPLE}")
    return Rules(tuple(_rule(number, table) for number, table in enumerate(tables, start=1)))


def _rule(number: int, table: Mapping[str, object]) -> Rule:
    where = f"rule {number}"
    for key in table:
        if key not in KEYS:
            raise ConfigError(f"{where} has the key '{key}', which is not known: write {', '.join(KEYS)}")
    role = table.get("role")
    if not isinstance(role, str) or role not in ROLES:
        given = "lacks role" if role is None else f"has role = {role!r}"
        raise ConfigError(f'{where} {given}: write one of {", ".join(ROLES)}, as in role = "viewer"')
    users, groups = _names(where, table, "users"), _names(where, table, "groups")
    if not users and not groups:
        raise ConfigError(f'{where} is for nobody: write users = ["ann"] or groups = ["staff"]')
    connectors = _names(where, table, "connectors")
    if not connectors:
        raise ConfigError(f'{where} lacks connectors: write connectors = ["orders-*"], or ["*"] for all')
    return Rule(ROLES[role], connectors, frozenset(users), frozenset(groups))


def _names(where: str, table: Mapping[str, object], key: str) -> tuple[str, ...]:
    given = table.get(key, [])
    if not isinstance(given, list) or not all(isinstance(each, str) and each for each in given):
        raise ConfigError(f'{where} has {key} that are not a list of names: write {key} = ["one", "two"]')
    return tuple(given)


class RulesFile:
    """The rules in force: those of the file, or the last good ones after an edit that broke it."""

    def __init__(self, path: str) -> None:
        """Read the file.

        Raises:
            ConfigError: It cannot be read, or is wrong.
        """
        self._path = Path(path)
        self._seen = self._stamp()
        try:
            self._rules = self._read()
        except ConfigError as error:
            raise ConfigError(f"{RULES_FILE} names {path}: {error.message}", key=RULES_FILE) from error

    def rules(self) -> Rules:
        """Return the rules in force; a file that was changed is read first.

        One that is broken now leaves the rules as they are, and says so.
        """
        stamp = self._stamp()
        if stamp != self._seen:
            self._read_again(stamp)
        return self._rules

    def _read_again(self, stamp: tuple[int, int, int]) -> None:
        self._seen = stamp
        try:
            self._rules = self._read()
        except ConfigError as error:
            log.error(  # noqa: TRY400 - the message says all that there is to correct
                "%s was changed and cannot be used, the rules before stay in force: %s; correct the file",
                *(self._path, error.message),
            )
        else:
            log_change(log, "access rules read again", file=str(self._path), rules=len(self._rules.rules))

    def _stamp(self) -> tuple[int, int, int]:
        try:
            found = self._path.stat()
        except OSError:
            return (0, 0, 0)
        return (found.st_mtime_ns, found.st_size, found.st_ino)

    def _read(self) -> Rules:
        try:
            return parse_rules(read_named_file(self._path).decode("utf-8"))
        except OSError as error:
            raise ConfigError(f"it cannot be read ({error.strerror}): make it readable for us") from error
        except UnicodeDecodeError as error:
            raise ConfigError("it is not UTF-8: write it as TOML in UTF-8") from error
