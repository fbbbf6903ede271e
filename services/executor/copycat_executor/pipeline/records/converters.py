"""The three converters of a task with their names."""

from __future__ import annotations

from dataclasses import dataclass

from copycat_connect.plugin.converters import Converter, HeaderConverter


@dataclass(frozen=True, slots=True)
class Converters:
    """How keys, values and headers of one task are converted; the names are for error reports."""

    key: Converter
    """Converts keys."""
    value: Converter
    """Converts values."""
    header: HeaderConverter
    """Converts values of headers."""
    key_name: str = "key converter"
    """Class name of the key converter."""
    value_name: str = "value converter"
    """Class name of the value converter."""
    header_name: str = "header converter"
    """Class name of the header converter."""

    def close(self) -> None:
        """Close the converters of keys, values and headers."""
        self.key.close()
        self.value.close()
        self.header.close()
