"""The one place that admits it: a value of the data model can be anything a schema can say."""

from __future__ import annotations

from typing import Any, TypeAlias

ConnectValue: TypeAlias = Any
"""None, bool, int, float, str, bytes, list, dict, Struct, Decimal, date, time or datetime.

FarDate and FarTimestamp stand for dates and datetimes outside of the years 1 to 9999.
"""
