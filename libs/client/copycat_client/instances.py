"""Configurations of connectors and tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

Config: TypeAlias = Mapping[str, str | None]
"""A raw configuration in the order it was given; placeholders of secrets are never resolved."""
