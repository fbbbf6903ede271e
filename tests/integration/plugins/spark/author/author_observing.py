"""A transformation that writes into each record in which folder the process that handles it works.

A Spark worker gives each executor a folder of its own, so that records say which executor they came through.
"""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from copycat_connect.cluster import Config
from copycat_connect.config import ConfigDef
from copycat_connect.data import ConnectRecord, Struct
from copycat_connect.plugin import PluginKind, PluginSpec, Transformation

R = TypeVar("R", bound=ConnectRecord)


class Observe(Transformation):
    """Sets the text field `place`."""

    def configure(self, config: Config) -> None:
        """Need nothing."""

    def apply(self, record: R) -> R | None:
        """Return the record with the folder."""
        assert isinstance(record.value, Struct)
        names = [field.name for field in record.value.schema.fields]
        fields = {name: record.value[name] for name in names}
        return record.replace(value=Struct(record.value.schema, {**fields, "place": str(Path.cwd())}))


PLUGINS = (
    PluginSpec(
        "observing.Observe",
        PluginKind.TRANSFORMATION,
        "0.1",
        "Observes.",
        ConfigDef(),
        Observe,
    ),
)
