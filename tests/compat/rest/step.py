"""One REST call of the script, what a system answered, and configurations of file connectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

JSON: Final = "application/json"
NOTHING: Final = object()
"""The call has no body."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, normalised."""

    status: int
    headers: Mapping[str, str]
    body: Any
    """Parsed JSON; other text as it is, None for nothing at all."""
    reached: bool = True
    """It is what the step waited for."""


@dataclass(frozen=True, slots=True)
class Step:
    """One call; `$id` and `$dir` in path and body stand for the system's own prefix and folder."""

    name: str
    """Unique in the script."""
    method: str
    path: str
    body: Any = NOTHING
    """A value to send as JSON, or bytes to send as they are."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Replace those a JSON body brings."""
    until: Callable[[Answer], bool] | None = None
    """The call is repeated until its answer satisfies this."""
    steady: int = 1
    """So many times in a row: what the step before asked for may only be about to begin."""
    select: Callable[[Any], Any] | None = None
    """What of the body is compared; all of it by default."""


def get(
    name: str,
    path: str,
    until: Callable[[Answer], bool] | None = None,
    select: Callable[[Any], Any] | None = None,
    steady: int = 1,
) -> Step:
    return Step(name, "GET", path, until=until, select=select, steady=steady)


def put(name: str, path: str, body: Any = NOTHING, until: Callable[[Answer], bool] | None = None) -> Step:
    return Step(name, "PUT", path, body, until=until)


def post(name: str, path: str, body: Any = NOTHING, until: Callable[[Answer], bool] | None = None) -> Step:
    return Step(name, "POST", path, body, until=until)


def patch(name: str, path: str, body: Any = NOTHING, until: Callable[[Answer], bool] | None = None) -> Step:
    return Step(name, "PATCH", path, body, until=until)


def delete(name: str, path: str, until: Callable[[Answer], bool] | None = None) -> Step:
    return Step(name, "DELETE", path, until=until)


def status(expected: int) -> Callable[[Answer], bool]:
    """Wait for a status."""
    return lambda answer: answer.status == expected


def states(connector: str, *tasks: str) -> Callable[[Answer], bool]:
    """Wait until a status shows these states of the connector and of exactly these tasks."""

    def reached(answer: Answer) -> bool:
        if answer.status != 200:
            return False
        seen = [answer.body["connector"]["state"], *(task["state"] for task in answer.body["tasks"])]
        return seen == [connector, *tasks]

    return reached


FILE: Final = "org.apache.kafka.connect.file.FileStream"
STRING: Final = "org.apache.kafka.connect.storage.StringConverter"
CONVERTERS: Final = {"key.converter": STRING, "value.converter": STRING}


def source(name: str = "", **more: str) -> dict[str, str]:
    """Return a source's configuration; it reads the lines that are in the system's folder."""
    own = {"connector.class": f"{FILE}SourceConnector", "tasks.max": "1", "file": "$dir/lines.txt"}
    return {**own, "topic": "$id-lines", **CONVERTERS, **_named(name), **dotted(more)}


def sink(name: str = "", **more: str) -> dict[str, str]:
    """Return a sink's configuration."""
    own = {"connector.class": f"{FILE}SinkConnector", "tasks.max": "1", "file": "$dir/copy.txt"}
    return {**own, "topics": "$id-lines", **CONVERTERS, **_named(name), **dotted(more)}


def dotted(more: dict[str, str]) -> dict[str, str]:
    """Return keyword arguments as configuration keys."""
    return {key.replace("_", "."): value for key, value in more.items()}


def without(config: dict[str, str], *keys: str) -> dict[str, str]:
    """Return a configuration that lacks some keys."""
    return {key: value for key, value in config.items() if key not in keys}


def _named(name: str) -> dict[str, str]:
    return {"name": name} if name else {}
