"""A task of the log source on files of a test, and what rotation does to such files."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from copycat_connect.data import SourceRecord
from copycat_plugins.connectors.log_source.connector import LogSourceConnector
from copycat_plugins.connectors.log_source.task import LogSourceTask
from copycat_testkit.conformance import FakeSourceContext


class Reader:
    """Starts tasks where the one before ended; each poll is a second, each second a look for files."""

    def __init__(self, files: Path | str, **more: str) -> None:
        """Read those files; keys have underlines for dots."""
        given = {key.replace("_", "."): value for key, value in more.items()}
        settings = {"files": str(files), "topic": "t", "rotated.wait.ms": "0", **given}
        connector = LogSourceConnector()
        connector.start(settings)
        (self.config,) = connector.task_configs(1)
        self.offsets: dict[str, Mapping[str, Any]] = {}
        self.now = 0.0
        self.task: LogSourceTask | None = None

    def start(self) -> LogSourceTask:
        """Start a task from the offsets of what was taken."""
        context = FakeSourceContext(self.config)
        context.stopping.set()
        for filename, offset in self.offsets.items():
            context.store({"filename": filename}, offset)
        task = LogSourceTask(lambda: self.now)
        task.initialize(context)
        task.start(self.config)
        self.task = task
        return task

    def stop(self) -> None:
        """Stop the task; the next one goes on behind what was taken."""
        if self.task is not None:
            self.task.stop()
        self.task = None

    def poll(self) -> list[SourceRecord]:
        """Poll once, and commit the offsets of what came."""
        task = self.task or self.start()
        self.now += 1.0
        records = list(task.poll() or ())
        for record in records:
            assert record.source_partition is not None
            assert record.source_offset is not None
            self.offsets[record.source_partition["filename"]] = json.loads(json.dumps(record.source_offset))
        return records

    def rest(self) -> list[SourceRecord]:
        """Poll until nothing has come for a while."""
        records: list[SourceRecord] = []
        quiet = 0
        while quiet < 4:
            found = self.poll()
            quiet = 0 if found else quiet + 1
            records += found
        return records

    def lines(self) -> list[Any]:
        """Return the values of all that is there."""
        return [record.value for record in self.rest()]


def append(file: Path, *lines: str, end: str = "\n") -> None:
    """Append lines."""
    with file.open("ab") as opened:
        opened.write("".join(f"{line}{end}" for line in lines).encode())


def renamed(log: Path, keep: int = 9) -> None:
    """Rotate by renaming: app.log becomes app.log.1, that app.log.2, and so on, also compressed."""
    for number in range(keep, 0, -1):
        for ending in ("", ".gz", ".zst"):
            old = log.with_name(f"{log.name}.{number}{ending}")
            if old.exists():
                old.rename(log.with_name(f"{log.name}.{number + 1}{ending}"))
    if log.exists():
        log.rename(log.with_name(f"{log.name}.1"))


def copied(log: Path) -> None:
    """Rotate by a copy that takes the text away, as logrotate's copytruncate does."""
    kept = log.with_name("kept")
    log.rename(kept)
    renamed(log)
    kept.rename(log)
    shutil.copy2(log, log.with_name(f"{log.name}.1"))
    os.truncate(log, 0)


def compressed(file: Path, ending: str = ".gz") -> None:
    """Compress a file, keeping its time, and remove it."""
    target = file.with_name(file.name + ending)
    if ending == ".gz":
        with gzip.open(target, "wb") as archive:
            archive.write(file.read_bytes())
    else:
        with pa.CompressedOutputStream(str(target), "zstd") as archive:
            archive.write(file.read_bytes())
    found = file.stat()
    os.utime(target, ns=(found.st_atime_ns, found.st_mtime_ns))
    file.unlink()
