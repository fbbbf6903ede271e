"""What a task of an object sink has to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from copycat_objects.compatibility import Compatibility
from copycat_objects.formats.format import Format
from copycat_objects.names import Layout
from copycat_objects.partitioners.partitioner import Partitioner
from copycat_objects.partitioners.times import RecordTimes
from copycat_objects.rotation import Rotation
from copycat_objects.stores.store import Store


@dataclass(frozen=True, slots=True)
class SinkSettings:
    """A configuration, understood."""

    connector: str
    """Its name."""
    open_store: Callable[[], Store]
    """Connects to the store."""
    layout: Layout
    """Where files lie."""
    format: Format
    """How they are written."""
    partitioner: Partitioner
    """Their folders."""
    times: RecordTimes
    """The records' times."""
    rotation: Rotation
    """When they are complete."""
    compatibility: Compatibility
    """What a change of schema means."""
    null_values: str
    """What becomes of records whose value is null: `fail`, `ignore` or `write`."""
    retry_seconds: float
    """How long to wait before the store is tried again."""
    logged: bool = True
    """True: files appear with an entry of a commit log. False: each in its place, when it is complete."""
