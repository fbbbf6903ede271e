"""A transformation that never gets along with one value."""

from __future__ import annotations

from collections.abc import Mapping

from copycat_connect.data import ConnectRecord
from copycat_connect.errors import RetriableError
from copycat_connect.plugin import Transformation


class FaultyPassthrough(Transformation):
    """Asks to be tried again, for ever, when it sees its value; passes all else."""

    def configure(self, config: Mapping[str, str | None]) -> None:
        """Replace the record by its value."""
        self._value = config.get("value")

    def apply(self, record: ConnectRecord) -> ConnectRecord:  # type: ignore[override]
        """Pass or fail."""
        if record.value == self._value:
            message = f"Error when value='{record.value}'"
            raise RetriableError(message)
        return record
