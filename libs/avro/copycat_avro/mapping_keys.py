"""Keys of the mapping that several formats share."""

from __future__ import annotations

from typing import Final

from copycat_connect.config import BOOLEAN, LOW, MEDIUM, ConfigKey

MAPPING: Final = "Mapping"
"""The heading of the keys of a format."""

FLATTEN_SINGLETONS: Final = ConfigKey(
    "flatten.singleton.unions",
    BOOLEAN,
    LOW,
    default=True,
    group=MAPPING,
    doc="Read a union of one type as that type.",
)
IGNORE_DEFAULT: Final = ConfigKey(
    "ignore.default.for.nullables",
    BOOLEAN,
    MEDIUM,
    default=False,
    group=MAPPING,
    doc="Write a field that is null as null, even when its schema has a default.",
)
SUM_TYPES: Final = ConfigKey(
    "generalized.sum.type.support",
    BOOLEAN,
    MEDIUM,
    default=False,
    group=MAPPING,
    doc="Mark enums and unions in the way that all formats of the registry share.",
)
