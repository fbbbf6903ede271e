"""Where Copycat's answer is not the one of Kafka Connect's classes, on purpose: each with its reason.

What Copycat says instead is computed from the case, so that no entry accepts more than one text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Case = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Difference:
    """A failure that is worded otherwise."""

    reason: str
    """Why the texts differ."""
    java: str
    """What Java's text matches as a whole."""
    ours: Callable[[Case], str]
    """What our text must be for a case."""


def _missing_field(case: Case) -> str:
    """Return how the first field is named that HeaderFrom does not find."""
    side = case[case["class"].rpartition("$")[2].lower()]
    known = {each["field"] for each in json.loads(side)["schema"]["fields"]}
    first = next(name for name in case["config"]["fields"].split(",") if name not in known)
    return f"{first} is not a valid field name"


DIFFERENCES = (
    Difference(
        "Java prints the address of an object where the field's name should stand.",
        r"Invalid value null for configuration static\.value: No value specified for static field: "
        r"org\.apache\.kafka\.connect\.transforms\.InsertField\$InsertionSpec@[0-9a-f]+",
        lambda case: (
            "Invalid value null for configuration static.value: No value specified for static field: "
            + case["config"]["static.field"]
        ),
    ),
    Difference(
        "Java fails with a NullPointerException; we name the field that is missing.",
        r'Cannot invoke "org\.apache\.kafka\.connect\.data\.Field\.schema\(\)" because the return value of '
        r'"org\.apache\.kafka\.connect\.data\.Schema\.field\(String\)" is null',
        _missing_field,
    ),
    Difference(
        "Java fails where it takes the last step of a path without steps; we name the key.",
        r"fromIndex\(0\) > toIndex\(-1\)",
        lambda _: "The path of ExtractField is empty: give the key field a name or a path",
    ),
    Difference(
        "Java reads beyond the parts of a mapping that has none.",
        r"Index 1 out of bounds for length 0",
        lambda case: (
            f"Invalid value [{case['config']['spec']}] for configuration renames: "
            f"Invalid rename mapping: {case['config']['spec']}"
        ),
    ),
)


def surprise(case: Case, java: Case, ours: Case) -> str | None:
    """Return how two answers differ, unless that is listed; None when all is well."""
    if ours == java or (
        "error" in java
        and any(
            re.fullmatch(each.java, java["error"]) and ours.get("error") == each.ours(case)
            for each in DIFFERENCES
        )
    ):
        return None
    return f"{case}\nKafka Connect: {java}\nCopycat: {ours}"
