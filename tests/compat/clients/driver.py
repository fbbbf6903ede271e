"""A connector's life in one vocabulary; each client's own calls stand behind it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

Config = Mapping[str, str]


class Driver(Protocol):
    """One client, unmodified, called as its users call it."""

    def plugins(self) -> Collection[str]:
        """Return the classes of the connector plugins."""

    def errors(self, config: Config) -> int:
        """Validate a configuration; returns how many errors it has."""

    def create(self, name: str, config: Config) -> None:
        """Create a connector."""

    def update(self, name: str, config: Config) -> None:
        """Replace a connector's configuration."""

    def names(self) -> Collection[str]:
        """Return the connectors."""

    def config(self, name: str) -> Config:
        """Return a connector's configuration."""

    def status(self, name: str) -> Mapping[str, Any]:
        """Return a connector's status as Connect shows it; empty while it has none."""

    def tasks(self, name: str) -> Sequence[int]:
        """Return the indices of a connector's tasks."""

    def topics(self, name: str) -> Collection[str]:
        """Return the topics a connector used."""

    def pause(self, name: str) -> None:
        """Pause a connector."""

    def resume(self, name: str) -> None:
        """Resume a connector."""

    def restart(self, name: str) -> None:
        """Restart a connector, with its tasks where the client can."""

    def delete(self, name: str) -> None:
        """Delete a connector."""
