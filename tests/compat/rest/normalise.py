"""What no two systems answer alike is replaced; what has no order is sorted."""

from __future__ import annotations

import re
from typing import Any, Final

#: Fields whose value is a matter of the moment or of the machine; a missing or null one stays as it is.
REPLACED: Final = frozenset({"worker_id", "trace", "last_modified"})
#: Where plugins are proposed, those that Kafka's distribution does not bring stand beside its own.
OWN_PLUGINS: Final = ("copycat_plugins.", "io.confluent.connect.", "org.apache.kafka.connect.tools.")
SHOWN_MAP: Final = re.compile(r"\{([^{}]*=[^{}]*)\}")


def normalised(value: Any, key: str = "") -> Any:
    """Return a body that can be compared."""
    match value:
        case str() | float() | int() if key in REPLACED:
            return f"<{key}>"
        case str():
            return SHOWN_MAP.sub(_sorted_map, value)
        case dict():
            return {name: normalised(item, name) for name, item in value.items()}
        case list():
            items = [normalised(item) for item in value if not _is_own_plugin(item)]
            return sorted(items, key=repr) if _has_no_order(items) else items
        case _:
            return value


def _is_own_plugin(item: Any) -> bool:
    return isinstance(item, str) and item.startswith(OWN_PLUGINS)


def _has_no_order(items: list[Any]) -> bool:
    texts = all(isinstance(item, str) for item in items)
    offsets = all(isinstance(item, dict) and item.keys() == {"partition", "offset"} for item in items)
    return texts or offsets


def _sorted_map(shown: re.Match[str]) -> str:
    return "{" + ", ".join(sorted(shown[1].split(", "))) + "}"
