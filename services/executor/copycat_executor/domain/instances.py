"""Configurations of connectors and tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

Config: TypeAlias = Mapping[str, str | None]
"""A raw configuration; `${...}` placeholders are never resolved in this room."""
