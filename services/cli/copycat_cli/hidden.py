"""Which values of a configuration are never shown in tables."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from copycat_connect.cluster import Config

from copycat_cli.api.plugins import plugin_keys
from copycat_cli.errors import CliError

if TYPE_CHECKING:
    from copycat_cli.rest import Rest

HIDDEN = "[hidden]"
#: For keys no plugin declares, such as those of clients and transformations.
TELLING = re.compile(r"password|passwd|secret|token|credential|private\.?key|jaas|api\.?key", re.IGNORECASE)
PLACEHOLDER = re.compile(r"\$\{[^}]*\}")


def secret_keys(rest: Rest, config: Config) -> frozenset[str]:
    """Return the keys that the connector's plugin declares as passwords."""
    try:
        keys = plugin_keys(rest, config.get("connector.class") or "")
    except CliError:  # an unknown class declares nothing; without a live worker nobody knows
        return frozenset()
    return frozenset(key.name for key in keys if key.type == "PASSWORD")


def is_secret(key: str, value: str, declared: Collection[str]) -> bool:
    """Tell whether to hide a value; a bare `${provider:path:key}` is no secret, only its name."""
    return (key in declared or bool(TELLING.search(key))) and not PLACEHOLDER.fullmatch(value)
