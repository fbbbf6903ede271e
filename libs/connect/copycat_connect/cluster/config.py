"""The configuration of a connector, a task or a worker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

Config: TypeAlias = Mapping[str, str | None]
"""Key to text, in the order it was given; None is JSON's null. Placeholders are in it as they were written,
unless what returns it says that it has resolved them."""
