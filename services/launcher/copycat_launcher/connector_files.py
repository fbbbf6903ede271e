"""Connector files of a standalone worker: properties, or JSON in one of two shapes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from copycat_rpc.role import read_properties

from copycat_launcher.errors import ConnectorFileError

WHOLE = {"name", "config", "initial_state"}


@dataclass(frozen=True, slots=True)
class ConnectorFile:
    """One connector to submit."""

    path: Path
    name: str
    config: dict[str, str]
    initial_state: str | None = None
    """STARTED, PAUSED or STOPPED as the file says it; None when it says nothing."""


def read_connector_file(path: Path) -> ConnectorFile:
    """Read a file: JSON `{"name", "config", "initial_state"}`, a JSON map with a `name`, or properties.

    Raises:
        ConnectorFileError: It is none of these, or names no connector.
        ConfigError: It cannot be read.
    """
    tree = _json(path)
    if isinstance(tree, dict) and isinstance(tree.get("config"), dict) and set(tree) <= WHOLE:
        return _named(path, tree.get("name"), _texts(path, tree["config"]), tree.get("initial_state"))
    config = read_properties(path) if tree is None else _texts(path, tree)
    return _named(path, config.get("name"), config)


def _json(path: Path) -> object:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError:  # not JSON, not even text: then properties
        return None
    except OSError as error:
        message = f"Cannot read the connector file {path}: {error.strerror}"
        raise ConnectorFileError(message) from error


def _texts(path: Path, tree: object) -> dict[str, str]:
    if not isinstance(tree, dict) or not all(isinstance(value, str) for value in tree.values()):
        message = f'{path}: a connector\'s JSON is a map of texts, e.g. {{"name": "c", "tasks.max": "1"}}'
        raise ConnectorFileError(message)
    return dict(tree)


def _named(path: Path, name: object, config: dict[str, str], state: object = None) -> ConnectorFile:
    if not isinstance(name, str) or not name.strip():
        message = f"{path}: no connector name. Add the key name."
        raise ConnectorFileError(message)
    if state is not None and not isinstance(state, str):
        message = f"{path}: initial_state must be STARTED, PAUSED or STOPPED"
        raise ConnectorFileError(message)
    return ConnectorFile(path, name.strip(), {**config, "name": name.strip()}, state)
