"""Filter: drops every record it is applied to; a predicate says which."""

from __future__ import annotations

from typing import TypeVar

from copycat_connect.config import ConfigDef
from copycat_connect.data import ConnectRecord
from copycat_connect.plugin import Transformation

from copycat_plugins.transforms.sides import plain_plugin

R = TypeVar("R", bound=ConnectRecord)


class Filter(Transformation):
    """Drops every record it is given; its predicate chooses which ones that are."""

    def apply(self, record: R) -> R | None:
        """Return None, which drops the record."""
        del record
        return None


PLUGIN = plain_plugin(Filter, "Filter", "Drops the records that its predicate chooses.", ConfigDef(), {})
