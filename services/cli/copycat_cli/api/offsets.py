"""`/connectors/NAME/offsets` (KIP-875), and what only Copycat has: dry runs, times, undo."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from copycat_rest.answers import ConnectorOffsets, JsonObject, Message, OffsetsEffect
from msgspec import Struct

from copycat_cli.api.connectors import CONNECTORS
from copycat_cli.errors import UnknownNameError

if TYPE_CHECKING:
    from copycat_cli.rest import Rest


class OffsetChange(Struct, frozen=True):
    """One partition and the offset it is to have; none forgets the partition."""

    partition: JsonObject
    offset: JsonObject | None


class OffsetChanges(Struct, frozen=True):
    """What a PATCH takes; what a GET answers is such a thing too."""

    offsets: Sequence[OffsetChange]


def leading_there(effect: OffsetsEffect) -> OffsetChanges:
    """Return what is to be altered to come to where a change leads."""
    moving = (each for each in effect.offsets if each.before != each.after)
    return OffsetChanges([OffsetChange(each.partition, each.after) for each in moving])


DRY = {"dry_run": "true"}


def get_offsets(rest: Rest, name: str) -> ConnectorOffsets:
    """Return the committed offsets."""
    return rest.get(ConnectorOffsets, CONNECTORS, name, "offsets")


def alter_offsets(rest: Rest, name: str, offsets: OffsetChanges) -> str:
    """Alter the offsets of a stopped connector; returns the cluster's words."""
    return rest.ask("PATCH", CONNECTORS, name, "offsets", body=offsets).read_as(Message).message


def reset_offsets(rest: Rest, name: str) -> str:
    """Forget all offsets of a stopped connector; returns the cluster's words."""
    return rest.ask("DELETE", CONNECTORS, name, "offsets").read_as(Message).message


def has_dry_runs(rest: Rest, name: str) -> bool:
    """Return whether the cluster has dry runs; one that has none takes a dry run for the change itself.

    The connector must be known to exist.
    """
    try:
        rest.ask("GET", CONNECTORS, name, "offsets", "undo")
    except UnknownNameError:
        return False
    return True


def dry_run_alter(rest: Rest, name: str, offsets: OffsetChanges) -> OffsetsEffect:
    """Return what altering these offsets would do."""
    return rest.ask("PATCH", CONNECTORS, name, "offsets", body=offsets, query=DRY).read_as(OffsetsEffect)


def dry_run_move(rest: Rest, name: str, to: str | None, rewind: str | None) -> OffsetsEffect:
    """Return what going to a time, or back by a time, would do."""
    time = {key: value for key, value in (("to", to), ("rewind", rewind)) if value is not None}
    return rest.ask("PATCH", CONNECTORS, name, "offsets", query={**DRY, **time}).read_as(OffsetsEffect)


def dry_run_reset(rest: Rest, name: str) -> OffsetsEffect:
    """Return what forgetting all offsets would do."""
    return rest.ask("DELETE", CONNECTORS, name, "offsets", query=DRY).read_as(OffsetsEffect)


def dry_run_undo(rest: Rest, name: str) -> OffsetsEffect:
    """Return what undoing the last change would do."""
    return rest.ask("POST", CONNECTORS, name, "offsets", "undo", query=DRY).read_as(OffsetsEffect)


def undo_offsets(rest: Rest, name: str) -> str:
    """Undo the last change of a stopped connector's offsets; returns the cluster's words."""
    return rest.ask("POST", CONNECTORS, name, "offsets", "undo").read_as(OffsetsEffect).message
