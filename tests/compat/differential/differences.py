"""Where Copycat's answer is not the one of Kafka Connect's classes, on purpose: each with its reason."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Difference:
    """Two failures that mean the same."""

    reason: str
    """Why the texts differ."""
    java: str
    """What Java's text matches as a whole."""
    ours: str
    """What our text matches as a whole."""


DIFFERENCES = (
    Difference(
        "Java prints the address of an object where the field's name should stand.",
        r"Invalid value null for configuration static\.value: No value specified for static field: .*@\w+",
        r"Invalid value null for configuration static\.value: No value specified for static field: \S+",
    ),
    Difference(
        "Java fails with a NullPointerException; we name the field that is missing.",
        r"Cannot invoke \".*Field\.schema\(\)\" because .* is null",
        r"\w+ is not a valid field name",
    ),
    Difference(
        "What is wrong with a regular expression is told in the words of the engine at work.",
        r"(?s)Invalid value \S+ for configuration (regex|pattern): Invalid regex: .*",
        r"(?s)Invalid value \S+ for configuration (regex|pattern): Invalid regex: .*",
    ),
    Difference(
        "Of several fields that cannot be cast Java names the first of its hash order, we the first given.",
        r"Cast transformation does not support casting from .*|Value \(.*",
        r"Cast transformation does not support casting from .*|Value \(.*",
    ),
    Difference(
        "Likewise of several that cannot be masked.",
        r"(Cannot mask value of type|Unable to convert) .*",
        r"(Cannot mask value of type|Unable to convert) .*",
    ),
)


def surprise(java: dict[str, Any], ours: dict[str, Any]) -> str | None:
    """Return how two answers differ, unless that is listed; None when all is well."""
    if ours == java or _listed(java.get("error"), ours.get("error")):
        return None
    return f"Kafka Connect: {java}\nCopycat: {ours}"


def _listed(java: str | None, ours: str | None) -> bool:
    if java is None or ours is None:
        return False
    return any(re.fullmatch(each.java, java) and re.fullmatch(each.ours, ours) for each in DIFFERENCES)
