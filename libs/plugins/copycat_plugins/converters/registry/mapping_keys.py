"""Keys of the mapping between Connect's schemas and a registry's that several formats have alike."""

from __future__ import annotations

from typing import Final

from copycat_connect.config import BOOLEAN, LOW, MEDIUM, ConfigKey

GROUP: Final = "Mapping"

FLATTEN_SINGLETONS: Final = ConfigKey(
    "flatten.singleton.unions",
    BOOLEAN,
    LOW,
    default=True,
    group=GROUP,
    doc="Read a union of one type as that type.",
)
IGNORE_DEFAULT: Final = ConfigKey(
    "ignore.default.for.nullables",
    BOOLEAN,
    MEDIUM,
    default=False,
    group=GROUP,
    doc="Write a field that is null as null, even when its schema has a default.",
)
SUM_TYPES: Final = ConfigKey(
    "generalized.sum.type.support",
    BOOLEAN,
    MEDIUM,
    default=False,
    group=GROUP,
    doc="Mark enums and unions in the way that all formats of the registry share.",
)
