"""What the scheduler may rely on about task hosts, which it never meets."""

from __future__ import annotations

from typing import Final

ORPHANED_HOST_SECONDS: Final = 1.0
"""A task host whose executor died has ended after so long: its kernel sees to that."""
