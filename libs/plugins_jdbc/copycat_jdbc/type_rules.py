"""What the configuration says of types, and what is planned for a column of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias
from zoneinfo import ZoneInfo

from copycat_connect.data import ConnectValue, Schema
from sqlalchemy import types as sql

from copycat_jdbc.granularity import CONNECT_LOGICAL
from copycat_jdbc.numerics import NumericMapping

Convert: TypeAlias = Callable[[Any], ConnectValue]
SqlType: TypeAlias = sql.TypeEngine[Any]
Encode: TypeAlias = Callable[[Sequence[Any]], Sequence[ConnectValue]]
Moment: TypeAlias = Callable[[Any], datetime]
Plan: TypeAlias = tuple[Schema, Convert | None] | tuple[Schema, Convert, Encode]


@dataclass(frozen=True, slots=True)
class TypeRules:
    """What the configuration says of types."""

    dialect: str
    """`postgresql`, `mysql`, `mariadb` or `sqlite`."""
    zone: ZoneInfo
    """Time zone of points in time that have none."""
    numerics: NumericMapping = NumericMapping.NONE
    """What becomes of decimals."""
    granularity: str = CONNECT_LOGICAL
    """What becomes of points in time."""
    zero_dates: str = "EXCEPTION"
    """What becomes of MySQL's date of zeros: EXCEPTION, CONVERT_TO_NULL or ROUND, as drivers write it."""
    legacy_calendar: bool = False
    """Whether days before 1582-10-15 are those of Java's calendar."""
