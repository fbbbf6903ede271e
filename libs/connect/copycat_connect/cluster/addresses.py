"""Where the roles of a cluster answer unless their properties say more, and hosts that are no address."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

GRPC_PORTS: Final[Mapping[str, int]] = MappingProxyType(
    {"config": 9101, "offset": 9102, "status": 9103, "scheduler": 9104, "executor": 9105}
)
"""The port on which each role answers gRPC, by the role's name."""
REST_PORT: Final = 8083
"""The port of the REST interface, as in Kafka Connect."""
_WILDCARD_HOSTS: Final = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - recognised, not bound


def default_address(role: str) -> str:
    """Return the host:port at which a role answers gRPC when no property says more; loopback only."""
    return f"127.0.0.1:{GRPC_PORTS[role]}"


def is_wildcard(host: str) -> bool:
    """Return whether a host stands for every address of a machine: it can be bound, but not be reached.

    Args:
        host: The host of an address; an IPv6 one with its brackets or without.
    """
    return host.strip("[]") in _WILDCARD_HOSTS
