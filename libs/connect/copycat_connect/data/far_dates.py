"""Points in time outside of the years 1 to 9999: Java's Date carries them, `date` and `datetime` cannot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from copycat_connect.data.java_calendar import DAY_MILLIS, java_date_text

_JAVA_CLASS: Final = "java.util.Date"


@dataclass(frozen=True, slots=True, order=True)
class FarDate:
    """A day of a Date field that `date` cannot hold."""

    days: int
    """Days since 1970-01-01."""
    java_class: ClassVar[str] = _JAVA_CLASS

    def __str__(self) -> str:
        return java_date_text(self.days * DAY_MILLIS)


@dataclass(frozen=True, slots=True, order=True)
class FarTimestamp:
    """A point in time of a Timestamp field that `datetime` cannot hold."""

    millis: int
    """Milliseconds since the epoch."""
    java_class: ClassVar[str] = _JAVA_CLASS

    def __str__(self) -> str:
        return java_date_text(self.millis)
