"""ProtobufConverter: its keys, and what the mapping needs to know of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from copycat_connect.config import BOOLEAN, LOW, MEDIUM, ConfigDef, ConfigKey

from copycat_plugins.converters.registry.keys import KEYS, URL
from copycat_plugins.converters.registry.mapping_keys import GROUP

ENHANCED = "enhanced.protobuf.schema.support"
SCRUB = "scrub.invalid.names"
INT_FOR_ENUMS = "int.for.enums"
OPTIONAL_FOR_NULLABLES = "optional.for.nullables"
WRAPPER_FOR_NULLABLES = "wrapper.for.nullables"
WRAPPER_FOR_PRIMITIVES = "wrapper.for.raw.primitives"
INDEX_FOR_UNIONS = "generate.index.for.unions"
FLATTEN_UNIONS = "flatten.unions"
IGNORE_DEFAULT = "ignore.default.for.nullables"

CONFIG = ConfigDef(
    *KEYS,
    ConfigKey(ENHANCED, BOOLEAN, MEDIUM, default=False, group=GROUP,
              doc="Keep packages in the names of schemas that are read."),
    ConfigKey(SCRUB, BOOLEAN, MEDIUM, default=False, group=GROUP,
              doc="Replace characters that names in Protobuf may not have by underscores."),
    ConfigKey(INT_FOR_ENUMS, BOOLEAN, MEDIUM, default=False, group=GROUP,
              doc="Read enums as their numbers."),
    ConfigKey(OPTIONAL_FOR_NULLABLES, BOOLEAN, MEDIUM, default=False, group=GROUP,
              doc="Mark optional fields with the word optional, so that null is told from zero."),
    ConfigKey(WRAPPER_FOR_NULLABLES, BOOLEAN, MEDIUM, default=False, group=GROUP,
              doc="Write optional plain fields as wrapper messages, so that null is told from zero."),
    ConfigKey(WRAPPER_FOR_PRIMITIVES, BOOLEAN, MEDIUM, default=True, group=GROUP,
              doc="Read a record that is a wrapper message as the plain value in it."),
    ConfigKey(INDEX_FOR_UNIONS, BOOLEAN, LOW, default=True, group=GROUP,
              doc="Add the number of a oneof to the name of its field."),
    ConfigKey(FLATTEN_UNIONS, BOOLEAN, LOW, default=False, group=GROUP,
              doc="Read the members of a oneof as fields beside the others."),
    ConfigKey(IGNORE_DEFAULT, BOOLEAN, MEDIUM, default=False, group=GROUP,
              doc="Leave out a field that is null, even when its schema has a default."),
)  # fmt: skip
EXAMPLES = {
    "A registry on this machine": {URL: "http://127.0.0.1:8081"},
    "Nulls told from zeros": {URL: "http://127.0.0.1:8081", OPTIONAL_FOR_NULLABLES: "true"},
}


@dataclass(frozen=True, slots=True)
class ProtobufOptions:
    """How schemas and values are mapped."""

    enhanced: bool = False
    """True when names of read schemas keep their package."""
    scrub: bool = False
    """True when invalid names are replaced."""
    int_for_enums: bool = False
    """True when enums are read as numbers."""
    optional_for_nullables: bool = False
    """True when optional fields are marked so."""
    wrapper_for_nullables: bool = False
    """True when optional fields of plain types are wrapper messages."""
    wrapper_for_primitives: bool = True
    """True when a wrapper message at the top is read as a plain value."""
    index_for_unions: bool = True
    """True when the field of a oneof has its number in its name."""
    flatten_unions: bool = False
    """True when members of a oneof are fields beside the others."""
    ignore_default: bool = False
    """True when a null field is left out although its schema has a default."""

    @classmethod
    def of(cls, parsed: Mapping[str, Any]) -> ProtobufOptions:
        """Read them out of a parsed configuration."""
        return cls(
            enhanced=parsed[ENHANCED],
            scrub=parsed[SCRUB],
            int_for_enums=parsed[INT_FOR_ENUMS],
            optional_for_nullables=parsed[OPTIONAL_FOR_NULLABLES],
            wrapper_for_nullables=parsed[WRAPPER_FOR_NULLABLES],
            wrapper_for_primitives=parsed[WRAPPER_FOR_PRIMITIVES],
            index_for_unions=parsed[INDEX_FOR_UNIONS],
            flatten_unions=parsed[FLATTEN_UNIONS],
            ignore_default=parsed[IGNORE_DEFAULT],
        )
