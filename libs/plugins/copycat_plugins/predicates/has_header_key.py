"""HasHeaderKey: true for records with a certain header."""

from __future__ import annotations

from copycat_connect.cluster import Config
from copycat_connect.config import MEDIUM, non_empty
from copycat_connect.config.settings import Settings, key
from copycat_connect.data import ConnectRecord
from copycat_connect.plugin import Predicate

from copycat_plugins.predicates.specs import predicate_plugin


class HasHeaderKeySettings(Settings):
    """Which header a record must have."""

    name: str = key(MEDIUM, check=non_empty, doc="Name of the header.")


class HasHeaderKey(Predicate):
    """Looks for a header by its exact name."""

    def configure(self, config: Config) -> None:
        """Read the name of the header to look for."""
        self._name = HasHeaderKeySettings.parse(config).name

    def test(self, record: ConnectRecord) -> bool:
        """Return whether there is one."""
        return record.has_headers and record.headers.last_with_name(self._name) is not None


PLUGIN = predicate_plugin(
    HasHeaderKey,
    "HasHeaderKey",
    "True for records with a certain header.",
    HasHeaderKeySettings.config_def(),
    {"Tests": {"name": "x-test"}},
)
