"""How a configuration becomes a connector: check it key by key, compare, write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from copycat_connect.cluster import Config

from copycat_cli.api.connectors import connector_names, create_connector, get_connector, put_config
from copycat_cli.api.plugins import Validation, list_plugins, validate
from copycat_cli.changes import Change, changes
from copycat_cli.connector_files import ConnectorFile
from copycat_cli.errors import ExistsError, InvalidConfigError, NotFoundError, RefusedError
from copycat_cli.hidden import secret_keys
from copycat_cli.similar import similar

if TYPE_CHECKING:
    from copycat_cli.rest import Rest

CLASS = "connector.class"
CREATED, CHANGED, UNCHANGED = "created", "changed", "unchanged"
MISSPELT_SIMILARITY = 0.8
"""How close an unknown key must be to a known one to be taken for a slip."""


@dataclass(frozen=True, slots=True)
class Applied:
    """What applying a file did."""

    name: str
    result: str
    """created, changed or unchanged."""
    changes: tuple[Change, ...]
    notes: tuple[str, ...] = ()


def apply(rest: Rest, file: ConnectorFile) -> Applied:
    """Create the connector of a file, or make the one of this name what the file says.

    Raises:
        InvalidConfigError: The configuration is invalid; nothing was changed.
    """
    try:
        stored = get_connector(rest, file.name).config
    except NotFoundError:
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
        raise InvalidConfigError(config, found.name, found.reasons, notes)
    return notes


def validation(rest: Rest, config: Config) -> Validation:
    """Return what validation finds.

    Raises:
        InvalidConfigError: The connector class is missing or unknown, so that nothing else can be checked.
    """
    wanted = config.get(CLASS)
    plugins = list_plugins(rest)
    if not wanted:
        names = ", ".join(plugin.alias for plugin in plugins)
        raise InvalidConfigError(config, "", {CLASS: [f"missing; the connectors here are {names}"]})
    if not any(plugin.answers_to(wanted) for plugin in plugins):
        close = similar(wanted, (name for plugin in plugins for name in (plugin.alias, plugin.class_name)))
        meant = f"did you mean {' or '.join(close)}?" if close else "copycat plugins lists those there are"
        raise InvalidConfigError(config, "", {CLASS: [f"no connector {wanted!r} here; {meant}"]})
    return validate(rest, wanted, config)


def slips(found: Validation, config: Config) -> tuple[str, ...]:
    """Return a note for each key that nobody defines and that looks like one that somebody does."""
    defined = {entry.definition.name for entry in found.configs if entry.definition}
    return tuple(
        f"{key} is no key of {found.name} and is ignored; did you mean {close[0]}?"
        for key in config
        if key not in defined
        and (close := similar(key, defined - set(config), closeness=MISSPELT_SIMILARITY))
    )
