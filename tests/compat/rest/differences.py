"""Where Copycat answers otherwise than Apache Kafka Connect 4.4.0, on purpose, and why: field by field.

Each entry is proved still to differ: one that no longer does must go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from tests.compat.rest.step import Answer

ABSENT: Final = "<absent>"


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One field that the two systems answered differently."""

    field: str
    """E.g. `status`, `headers.allow`, `body.configs.topics.definition.type`."""
    theirs: Any
    ours: Any


def disagreements(theirs: Answer, ours: Answer) -> list[Disagreement]:
    """Return the fields that differ, in order."""
    return [
        *_between("status", theirs.status, ours.status),
        *_between("headers", dict(theirs.headers), dict(ours.headers)),
        *_between("body", _keyed(theirs.body), _keyed(ours.body)),
    ]


def _between(field: str, theirs: Any, ours: Any) -> Iterator[Disagreement]:
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for name in {**theirs, **ours}:
            yield from _between(f"{field}.{name}", theirs.get(name, ABSENT), ours.get(name, ABSENT))
    elif isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for index, (one, other) in enumerate(zip(theirs, ours, strict=True)):
            yield from _between(f"{field}[{index}]", one, other)
    elif theirs != ours or type(theirs) is not type(ours):
        yield Disagreement(field, theirs, ours)


def _keyed(value: Any) -> Any:
    """Return lists of config keys and of plugins as maps by name, so that one more is one difference.

    Their order stays beside; that of a converter's own keys is a hash map's and says nothing.
    """
    match value:
        case dict():
            return {name: _keyed(item) for name, item in value.items()}
        case [{"name": _, "type": _}, *_] | [{"value": {"name": _}}, *_] | [{"class": _}, *_]:
            names = [_name(item) for item in value]
            ordered = " ".join(name for name in names if ".converter." not in name)
            return {**dict(zip(names, map(_keyed, value), strict=True)), "order of keys": ordered}
        case list():
            return [_keyed(item) for item in value]
        case _:
            return value


def _name(item: dict[str, Any]) -> str:
    found = item.get("class") or item.get("name") or item["value"]["name"]
    return str(found)


@dataclass(frozen=True, slots=True)
class Difference:
    """Fields of some steps that differ, and why they may."""

    reason: str
    steps: str
    """A regular expression that the step's whole name matches."""
    fields: str
    """A regular expression that the field's whole path matches."""
    theirs: str = ""
    """A regular expression that Apache Kafka Connect's text begins with."""

    def covers(self, step: str, found: Disagreement) -> bool:
        """Return whether this is the difference that was found."""
        return (
            re.fullmatch(self.steps, step) is not None
            and re.fullmatch(self.fields, found.field) is not None
            and re.match(self.theirs, str(found.theirs)) is not None
        )


#: Where a status stands in a listing with `expand=status`.
LISTED: Final = r"(\.[^.]+\.status)?"

DIFFERENCES: Final = (
    Difference(
        "Kafka Connect's JSON error has no content type when path, method or media type is refused; a client"
        " that looks for one could not read the body. RFC 9110 wants Allow with 405.",
        ".*",
        r"headers\.(content-type|allow)",
        "<absent>$",
    ),
    Difference(
        "The text of a body that cannot be read is the JSON library's, or that of a null pointer in Java;"
        " Copycat says what is wrong in words of its own, with the same status.",
        ".*",
        r"body\.message",
        r"Cannot (deserialize|construct|invoke)|Unrecognized (field|token)|Unexpected |Input mismatch",
    ),
    Difference(
        "Copycat's own version stands beside that of the Kafka release whose interface it offers.",
        "root",
        r"body\.copycat_(version|commit)",
        "<absent>$",
    ),
    Difference(
        "Copycat adds to statuses since when they are so, the generation of the assignment, why it is"
        " not plainly RUNNING, and a connector's health, after Kafka Connect's fields.",
        ".*",
        rf"body{LISTED}\.((connector|tasks\[\d+\])\.)?(since|generation|reason)|body{LISTED}\.health",
        "<absent>$",
    ),
    Difference(
        "Copycat's plugins and settings are documented in words of its own.",
        "config of .*|validate .*",
        r"body\..*\.documentation",
    ),
    Difference(
        "Kafka Connect does not load a connector of another version than is asked for, and describes only"
        " the keys that all connectors share, without what the worker has for them; Copycat describes all.",
        r"validate connector version '(1\.0)?'",
        r"body\.(groups|configs\.(order of keys|[\w.]+))",
        r"<absent>$|None$|False$|\[\]$|\['Common', 'Error Handling', 'Predicates', 'Transforms'\]$"
        r"|name connector\.class ",
    ),
    Difference(
        "Kafka Connect prints the insides of its plugin descriptors and the class of its exception;"
        " Copycat prints the names of the classes that are there.",
        "class .*|name a number|validate class unknown",
        r"body\.message",
        r".*Failed to find any class that implements Connector and which name matches .* PluginDesc\{",
    ),
    Difference(
        "Kafka Connect hides what is wrong with a value that a config provider gave, however much it is;"
        " Copycat says it, with the placeholder in the place of the value.",
        r"validate placeholder for .*",
        r"body\.(.*\.errors.*|error_count)",
        r"1$|.*the value resolved from the config provider reference failed validation",
    ),
    Difference(
        "Both create a connector with a slash or a percent sign in its name, but only Copycat finds it.",
        r"GET /connectors/\$id%(2F|25)none",
        "status|headers.content-type|body",
        "400|text/html|(?s:<html>.*Ambiguous URI)",
    ),
    Difference(
        "Kafka Connect's web server answers in HTML here; everything Copycat answers is JSON.",
        "GET /connectors//status",
        "headers.content-type|body",
        "text/html|(?s:<html>.*Ambiguous URI empty segment)",
    ),
    Difference(
        "tasks-config was removed in Kafka 4; Copycat still answers clients of older versions.",
        "task configs( of the stopped| of an unknown connector)?",
        r"status|body.*",
    ),
    Difference(
        "Copycat shows a task's configuration and status at once under its own path.",
        r"GET /connectors/\$id-none/tasks/0",
        r"body\.message",
        "HTTP 404 Not Found",
    ),
    Difference(
        "Kafka Connect lets a patch write another name into a connector's configuration; Copycat refuses it,"
        " as both do with PUT.",
        "patch the name",
        "status|body.*",
    ),
    Difference(
        "A stopped connector has no tasks: Copycat says so. Kafka Connect looks for the worker that runs"
        " the task, and answers as if a rebalance were under way for as long as one asks.",
        "restart a task of the stopped",
        "status|body.*",
        "409|Cannot complete request momentarily",
    ),
    Difference(
        "A source partition that is missing is the caller's mistake: 400. Kafka Connect stores an offset"
        " under null or fails with 500.",
        "source: (empty entry|partition null)",
        "status|body.*",
    ),
    Difference(
        "A negative offset is the caller's mistake and told as such; Kafka Connect fails without a reason.",
        "sink: offset below zero",
        "status|body.*",
    ),
    Difference(
        "A worker that says nothing about exactly once lets the sources have it that ask for it; those of"
        " Kafka Connect must be told.",
        "validate exactly once required",
        r"body\..*",
        "1|.*This worker does not have exactly-once source support enabled",
    ),
)
