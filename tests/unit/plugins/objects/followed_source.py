"""A task of SparkSource that follows a table, as tests plan with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from copycat_connect.plugin import SparkUnit
from copycat_objects.spark.task import SparkFilesTask
from copycat_testkit.conformance.contexts import FakeSourceContext


class FollowedSource:
    """A task in a folder; it looks for news at once."""

    def __init__(self, root: Path, config: Mapping[str, str]) -> None:
        given = {"topic": "t", "store.url": f"file://{root}", "object.poll.interval.ms": "1", **config}
        self.context = FakeSourceContext(given)
        self.task = SparkFilesTask()
        self.task.initialize(self.context)
        self.task.start(given)

    def plan(self) -> list[SparkUnit]:
        """Plan until there is something, at most some times."""
        return next((units for _ in range(20) if (units := self.task.plan())), [])


def ids_in(root: Path, units: Sequence[SparkUnit]) -> list[int]:
    """The ids in the files of units."""
    files = [root / unit.content.file.path for unit in units if not unit.is_mark]
    return sorted(each for file in files for each in pq.read_table(file, partitioning=None)["id"].to_pylist())


def marks(units: Sequence[SparkUnit]) -> list[Any]:
    """What the marks among units say."""
    return [unit.content for unit in units if unit.is_mark]
