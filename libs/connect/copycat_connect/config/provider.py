"""What a config provider is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping


class ConfigProvider(ABC):
    """Looks up values by path and key."""

    @abstractmethod
    def get(self, path: str, keys: Collection[str]) -> Mapping[str, str]:
        """Return the values of those of the keys that exist at the path.

        Raises:
            ConfigError: The path cannot be read.
        """

    def ttl_ms(self, path: str) -> int | None:
        """Return how long what was read last at a path counts, milliseconds; None for ever.

        Once that has passed, the connector is restarted and reads again, as `config.action.reload` says.
        """
        del path
        return None
