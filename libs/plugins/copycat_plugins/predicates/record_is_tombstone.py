"""RecordIsTombstone: true for records without a value."""

from __future__ import annotations

from copycat_connect.config import ConfigDef
from copycat_connect.data import ConnectRecord
from copycat_connect.plugin import Predicate

from copycat_plugins.predicates.specs import predicate_plugin


class RecordIsTombstone(Predicate):
    """Looks at the converted value; the key does not matter."""

    def test(self, record: ConnectRecord) -> bool:
        """Return whether the value is null."""
        return record.value is None


PLUGIN = predicate_plugin(
    RecordIsTombstone, "RecordIsTombstone", "True for records without a value.", ConfigDef(), {}
)
