"""A configuration of a connector: checked, compared, written; which of its values are never shown."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from copycat_connect.cluster import Config
from copycat_connect.config.framework_names import DLQ_CONTEXT_HEADERS, DLQ_REPLICATION_FACTOR, DLQ_TOPIC
from copycat_rest.answers import ConfigInfos

from copycat_cli.advice import similar
from copycat_cli.api.connectors import connector_names, create_connector, get_connector, put_config
from copycat_cli.api.workers import alias, answers_to, errors_by_key, list_plugins, plugin_keys, validate
from copycat_cli.connector_files import ConnectorFile
from copycat_cli.errors import CliError, ExistsError, InvalidConfigError, RefusedError, UnknownNameError
from copycat_cli.output.blocks import TableBlock

if TYPE_CHECKING:
    from copycat_cli.rest import Rest


HIDDEN = "[hidden]"
#: For keys no plugin declares, such as those of clients and transformations.
_TELLING = re.compile(r"password|passwd|secret|token|credential|private\.?key|jaas|api\.?key", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"\$\{[^}]*\}")


def secret_keys(rest: Rest, config: Config) -> frozenset[str]:
    """Return the keys that the connector's plugin declares as passwords."""
    try:
        keys = plugin_keys(rest, config.get("connector.class") or "")
    except CliError:  # an unknown class declares nothing; without a live worker nobody knows
        return frozenset()
    return frozenset(key.name for key in keys if key.type == "PASSWORD")


def is_secret(key: str, value: str, declared: Collection[str]) -> bool:
    """Tell whether to hide a value; a bare `${provider:path:key}` is no secret, only its name."""
    return (key in declared or bool(_TELLING.search(key))) and not _PLACEHOLDER.fullmatch(value)


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """One key that differs; None where it is missing."""

    key: str
    before: str | None
    after: str | None

    @property
    def sign(self) -> str:
        """`+` added, `-` removed, `~` changed."""
        return "+" if self.before is None else "-" if self.after is None else "~"


def changes(before: Config, after: Config, secret: Collection[str]) -> tuple[ConfigChange, ...]:
    """Return what differs, by key; values of secret keys are hidden."""
    return tuple(
        ConfigChange(key, _shown(key, before.get(key), secret), _shown(key, after.get(key), secret))
        for key in sorted({*before, *after})
        if before.get(key) != after.get(key)
    )


def table_of(found: Collection[ConfigChange], before: str, after: str, title: str = "") -> TableBlock:
    """Return a table of changes; `before` and `after` name the two sides."""
    rows = [(each.sign, each.key, each.before or "", each.after or "") for each in found]
    return TableBlock(("", "KEY", before, after), rows, title)


def _shown(key: str, value: str | None, secret: Collection[str]) -> str | None:
    return HIDDEN if value is not None and is_secret(key, value, secret) else value


_CLASS = "connector.class"
CREATED, CHANGED, UNCHANGED = "created", "changed", "unchanged"
#: Keys of the engine that sources take, too, though Kafka Connect's definition of a source has them not.
_DEAD_LETTERS = frozenset({DLQ_TOPIC, DLQ_REPLICATION_FACTOR, DLQ_CONTEXT_HEADERS})
_MISSPELT_SIMILARITY = 0.8
"""How close an unknown key must be to a known one to be taken for a slip."""


@dataclass(frozen=True, slots=True)
class Applied:
    """What applying a file did."""

    name: str
    result: str
    """created, changed or unchanged."""
    changes: tuple[ConfigChange, ...]
    notes: tuple[str, ...] = ()


def apply(rest: Rest, file: ConnectorFile) -> Applied:
    """Create the connector of a file, or make the one of this name what the file says.

    Raises:
        InvalidConfigError: The configuration is invalid; nothing was changed.
    """
    try:
        stored = get_connector(rest, file.name).config
    except UnknownNameError:
        return create(rest, file)
    notes = check(rest, file.config)
    found = changes(stored, file.config, secret_keys(rest, file.config))
    if found:
        put_config(rest, file.name, file.config)
    return Applied(file.name, CHANGED if found else UNCHANGED, found, notes)


def create(rest: Rest, file: ConnectorFile) -> Applied:
    """Create the connector of a file.

    Raises:
        InvalidConfigError: The configuration is invalid.
        ExistsError: It is there already.
    """
    notes = check(rest, file.config)
    try:
        create_connector(rest, file.name, file.config, file.initial_state)
    except RefusedError as error:
        if file.name in connector_names(rest):
            raise ExistsError(error.message) from error
        raise
    return Applied(file.name, CREATED, (), notes)


def check(rest: Rest, config: Config) -> tuple[str, ...]:
    """Have a configuration validated; returns what to note about it all the same.

    Raises:
        InvalidConfigError: It is invalid; the reasons are listed by key.
    """
    found = validation(rest, config)
    notes = slips(found, config)
    if found.error_count:
        raise InvalidConfigError(config, found.name, errors_by_key(found), notes)
    return notes


def validation(rest: Rest, config: Config) -> ConfigInfos:
    """Return what validation finds.

    Raises:
        InvalidConfigError: The connector class is missing or unknown, so that nothing else can be checked.
    """
    wanted = config.get(_CLASS)
    plugins = list_plugins(rest)
    if not wanted:
        names = ", ".join(alias(plugin) for plugin in plugins)
        raise InvalidConfigError(config, "", {_CLASS: [f"missing; the connectors here are {names}"]})
    if not any(answers_to(plugin, wanted) for plugin in plugins):
        close = similar(wanted, (name for plugin in plugins for name in (alias(plugin), plugin.class_name)))
        meant = f"did you mean {' or '.join(close)}?" if close else "copycat plugins lists those there are"
        raise InvalidConfigError(config, "", {_CLASS: [f"no connector {wanted!r} here; {meant}"]})
    return validate(rest, wanted, config)


def slips(found: ConfigInfos, config: Config) -> tuple[str, ...]:
    """Return a note for each key that nobody defines and that looks like one that somebody does."""
    defined = _DEAD_LETTERS | {entry.definition.name for entry in found.configs if entry.definition}
    return tuple(
        f"{key} is no key of {found.name} and is ignored; did you mean {close[0]}?"
        for key in config
        if key not in defined
        and (close := similar(key, defined - set(config), closeness=_MISSPELT_SIMILARITY))
    )
