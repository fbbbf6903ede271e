"""InsertHeader: adds the same header to every record."""

from __future__ import annotations

from typing import TypeVar

from copycat_connect.cluster import Config
from copycat_connect.config import HIGH, non_null
from copycat_connect.config.settings import Settings, key
from copycat_connect.data import ConnectRecord
from copycat_connect.plugin import Transformation
from copycat_connect.values.parsing import parse_value

from copycat_plugins.transforms.sides import plain_plugin

R = TypeVar("R", bound=ConnectRecord)


class InsertHeaderSettings(Settings):
    """The header that is added."""

    header: str = key(HIGH, check=non_null, doc="Name of the header.")
    value_literal: str = key(
        HIGH,
        check=non_null,
        doc="Its value; what looks like a number, boolean, date, list or map becomes one.",
    )


class InsertHeader(Transformation):
    """Appends a header, whatever others of its name there are."""

    def configure(self, config: Config) -> None:
        """Read the header's name and parse its literal value."""
        settings = InsertHeaderSettings.parse(config)
        self._header = settings.header
        self._schema, self._value = parse_value(settings.value_literal)

    def apply(self, record: R) -> R | None:
        """Return the record with the header."""
        updated = record.replace()
        updated.headers.add(self._header, self._value, self._schema)
        return updated

    def apply_in_place(self, record: R) -> R | None:
        """Add the header to the record."""
        record.headers.add(self._header, self._value, self._schema)
        return record


PLUGIN = plain_plugin(
    InsertHeader,
    "InsertHeader",
    "Adds the same header to every record.",
    InsertHeaderSettings.config_def(),
    {"Where it came through": {"header": "via", "value.literal": "copycat"}},
)
