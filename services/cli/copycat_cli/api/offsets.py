"""`/connectors/NAME/offsets` (KIP-875)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from copycat_cli.api.connectors import CONNECTORS

if TYPE_CHECKING:
    from copycat_cli.rest import Rest


class OffsetEntry(Struct, frozen=True):
    """One partition and how far it was read; maps of the connector's own."""

    partition: dict[str, object]
    offset: dict[str, object] | None
    """None forgets the partition."""


class Offsets(Struct, frozen=True):
    """What GET answers and PATCH takes."""

    offsets: tuple[OffsetEntry, ...]


class Message(Struct, frozen=True):
    """What was done, in words."""

    message: str


def get_offsets(rest: Rest, name: str) -> Offsets:
    """Return the committed offsets."""
    return rest.get(Offsets, CONNECTORS, name, "offsets")


def alter_offsets(rest: Rest, name: str, offsets: Offsets) -> str:
    """Alter the offsets of a stopped connector; returns the cluster's words."""
    return rest.ask("PATCH", CONNECTORS, name, "offsets", body=offsets).read_as(Message).message


def reset_offsets(rest: Rest, name: str) -> str:
    """Forget all offsets of a stopped connector; returns the cluster's words."""
    return rest.ask("DELETE", CONNECTORS, name, "offsets").read_as(Message).message
