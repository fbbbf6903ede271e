"""The consumer group in which a sink connector keeps its positions."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from copycat_connect.cluster.config import Config

GROUP_OVERRIDE: Final = "consumer.override.group.id"
"""The key by which a sink connector chooses another group (KIP-458)."""
_NO_OVERRIDES: Final[Config] = MappingProxyType({})


def sink_group(connector: str, config: Config = _NO_OVERRIDES) -> str:
    """Return the consumer group of a sink connector: `connect-<name>` unless its configuration overrides it.

    Its tasks read in this group and commit their positions there; the REST interface shows and changes those.

    Args:
        connector: The connector's name.
        config: The connector's configuration; blanks around the override do not count.
    """
    return (config.get(GROUP_OVERRIDE) or "").strip() or f"connect-{connector}"
