"""Connector files: properties as a standalone worker takes them, or JSON as the REST interface does."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from copycat_connect.cluster import INITIAL_STATES
from copycat_connect.config.properties import parse_properties
from copycat_connect.errors import ConfigError

from copycat_cli.errors import ConnectorFileError

STDIN = Path("-")
NAME, CONFIG, INITIAL_STATE = "name", "config", "initial_state"
ASKED = (NAME, CONFIG, INITIAL_STATE)
#: What answers about a connector have besides; so that what was shown can be given back.
ANSWERED = ("tasks", "type", "status", "topics", "acts")


@dataclass(frozen=True, slots=True)
class ConnectorFile:
    """One connector to create or change."""

    path: Path
    name: str
    config: dict[str, str]
    """With its name in it."""
    initial_state: str | None = None
    """RUNNING, PAUSED or STOPPED as the file says it; None when it says nothing."""

    @property
    def shown(self) -> str:
        """The file as messages call it."""
        return shown(self.path)


def shown(path: Path) -> str:
    """Return a path as messages call it."""
    return "standard input" if path == STDIN else str(path)


def read_connector_file(path: Path) -> ConnectorFile:
    """Read a file, or standard input when the path is `-`.

    It holds JSON `{"name", "config", "initial_state"}`, or a flat map with a `name`: JSON or properties.

    Raises:
        ConnectorFileError: It cannot be read, has another format, or names no connector.
    """
    return parse_connector(read_text(path), path)


def read_text(path: Path) -> str:
    """Return the text of a file, or standard input when the path is `-`.

    Raises:
        ConnectorFileError: It cannot be read.
    """
    try:
        return sys.stdin.read() if path == STDIN else path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConnectorFileError(f"Cannot read {shown(path)}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConnectorFileError(f"{shown(path)} is not UTF-8 text") from error


def parse_connector(text: str, path: Path) -> ConnectorFile:
    """Read the text of a file; the path is for messages.

    Raises:
        ConnectorFileError: It is neither properties nor JSON that describes a connector.
    """
    if not text.lstrip().startswith(("{", "[")):
        config = _properties(text, path)
        return _named(path, config.get(NAME), config)
    tree = _json(text, path)
    inner = tree.get(CONFIG)
    if isinstance(inner, dict):
        if unknown := sorted(set(tree) - {*ASKED, *ANSWERED}):
            raise ConnectorFileError(
                f"{shown(path)}: unknown field {unknown[0]!r} beside config; known are {', '.join(ASKED)}"
            )
        return _named(path, tree.get(NAME), _texts(path, inner), tree.get(INITIAL_STATE))
    config = _texts(path, tree)
    return _named(path, config.get(NAME), config)


def _properties(text: str, path: Path) -> dict[str, str]:
    try:
        return parse_properties(text)
    except ConfigError as error:
        raise ConnectorFileError(
            f"{shown(path)} is not a properties file (key=value lines): {error.message}"
        ) from error


def _json(text: str, path: Path) -> dict[str, object]:
    try:
        tree = json.loads(text, parse_int=str, parse_float=str)  # numbers stay as they were written
    except ValueError as error:
        raise ConnectorFileError(f"{shown(path)} is not valid JSON: {error}") from error
    if not isinstance(tree, dict):
        raise ConnectorFileError(
            f'{shown(path)}: a connector\'s JSON is a map, e.g. {{"name": "c", "config": {{...}}}}'
        )
    return tree


def _texts(path: Path, tree: dict[str, object]) -> dict[str, str]:
    texts = {}
    for key, value in tree.items():
        if not isinstance(value, str | bool):
            what = "null" if value is None else f"a {type(value).__name__}"
            raise ConnectorFileError(
                f"{shown(path)}: the value of {key!r} is {what}; a configuration is a flat map of texts"
            )
        texts[key] = str(value).lower() if isinstance(value, bool) else value
    return texts


def _named(path: Path, name: object, config: dict[str, str], state: object = None) -> ConnectorFile:
    name = config.get(NAME) if name is None else name
    if not isinstance(name, str) or not name.strip():
        raise ConnectorFileError(f"{shown(path)}: no connector name. Add the key name.")
    if state is not None and not (isinstance(state, str) and state.upper() in INITIAL_STATES):
        raise ConnectorFileError(f"{shown(path)}: initial_state must be one of {', '.join(INITIAL_STATES)}")
    return ConnectorFile(path, name.strip(), {**config, NAME: name.strip()}, state and state.upper())
