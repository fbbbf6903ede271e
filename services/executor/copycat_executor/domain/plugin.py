"""Which plugin a connector is made by."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Plugin:
    """What a connector is made by."""

    class_name: str
    kind: str
    """source or sink."""
    version: str | None
