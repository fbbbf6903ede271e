"""DropHeaders: removes headers by name."""

from __future__ import annotations

from typing import TypeVar

from copycat_connect.cluster import Config
from copycat_connect.config import HIGH
from copycat_connect.config.settings import Settings, key
from copycat_connect.data import ConnectRecord
from copycat_connect.plugin import Transformation

from copycat_plugins.transforms.fields import some_names
from copycat_plugins.transforms.sides import plain_plugin

R = TypeVar("R", bound=ConnectRecord)


class DropHeadersSettings(Settings):
    """Which headers are removed."""

    headers: frozenset[str] = key(HIGH, check=some_names, doc="Names of the headers to remove.")


class DropHeaders(Transformation):
    """Removes every header of certain names."""

    def configure(self, config: Config) -> None:
        """Read the names of the headers to drop."""
        self._names = DropHeadersSettings.parse(config).headers

    def apply(self, record: R) -> R | None:
        """Return the record without those headers."""
        kept = tuple(header for header in record.headers if header.key not in self._names)
        return record.replace(headers=kept)


PLUGIN = plain_plugin(
    DropHeaders,
    "DropHeaders",
    "Removes headers by name.",
    DropHeadersSettings.config_def(),
    {"Without tracing": {"headers": "traceparent,tracestate"}},
)
