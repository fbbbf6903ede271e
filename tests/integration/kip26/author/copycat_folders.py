"""Plugins of an author outside this repository: a source whose system is a folder, each file a partition."""

from __future__ import annotations

import fcntl
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from copycat_connect.config import BOOLEAN, HIGH, LOW, STRING, ConfigDef, ConfigKey
from copycat_connect.data import SourceRecord
from copycat_connect.errors import ConnectError
from copycat_connect.plugin import PluginKind, PluginSpec, SourceConnector, SourceTask

LOOK_SECONDS = 0.05
DONE = ".done"
OVERLAP = "overlap"
STARTED = "started"


def names_in(folder: Path, *, once: bool) -> list[str]:
    """Return the files of the folder; in a batch those that are read are no work any more."""
    names = sorted(file.name for file in folder.iterdir() if file.suffix == ".txt")
    return [name for name in names if not (once and (folder / f"{name}{DONE}").exists())]


class FolderConnector(SourceConnector):
    """Watches its folder and divides its files evenly."""

    def start(self, config: Mapping[str, str]) -> None:
        """Watch the folder in a thread; leaves the file `started` there."""
        self._folder = Path(config["folder"])
        (self._folder / STARTED).touch()
        self._topic = config["topic.prefix"]
        self._once = config.get("once", "false") == "true"
        self._exclusive = config.get("exclusive", "false")
        self._stopped = threading.Event()
        self._seen = {file.name for file in self._folder.iterdir()}
        threading.Thread(target=self._watch, daemon=True).start()

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Return the files of each task; group sizes differ by one at most."""
        names = names_in(self._folder, once=self._once)
        groups = [names[first::max_tasks] for first in range(min(max_tasks, len(names)))]
        shared = {"folder": str(self._folder), "topic.prefix": self._topic, "once": str(self._once).lower()}
        shared["exclusive"] = self._exclusive
        return [{**shared, "files": ",".join(group)} for group in groups]

    def stop(self) -> None:
        """End the thread."""
        self._stopped.set()

    def _watch(self) -> None:
        asked = self._seen
        while not self._stopped.wait(LOOK_SECONDS):
            seen = {file.name for file in self._folder.iterdir()}
            if seen != asked:
                asked = seen
                self.context.request_task_reconfiguration()


class FolderTask(SourceTask):
    """Copies the lines of its files; the offset is the number of lines read.

    Calls that overlap fail, and leave the file `overlap` in the folder: not every failed call fails the task.
    A twin of it in whatever process fails it where it has to be alone.
    """

    def start(self, config: Mapping[str, str]) -> None:
        """Continue where the offsets say."""
        self._call = threading.Lock()
        self._folder = Path(config["folder"])
        self._topic = config["topic.prefix"]
        self._once = config["once"] == "true"
        self._lines = {name: self._offset(name) for name in config["files"].split(",")}
        self._locked = ExitStack()
        if config["exclusive"] == "true":
            for name in self._lines:
                self._lock(name)

    def poll(self) -> list[SourceRecord] | None:
        """Return the next lines of the first file that has any."""
        with self._alone():
            return self._next()

    def commit(self) -> None:
        """Do nothing, alone."""
        with self._alone():
            pass

    def commit_record(self, record: SourceRecord, metadata: object) -> None:
        """Do nothing, alone."""
        with self._alone():
            pass

    def _next(self) -> list[SourceRecord] | None:
        for name, read in self._lines.items():
            lines = (self._folder / name).read_text().splitlines()[read:]
            if lines:
                self._lines[name] = read + len(lines)
                return [self._record(name, read + n, line) for n, line in enumerate(lines, 1)]
            if self._once:
                (self._folder / f"{name}{DONE}").touch()
        self.context.wait(LOOK_SECONDS)
        return None

    def stop(self) -> None:
        """Hold nothing, alone."""
        with self._alone():
            self._locked.close()

    def _lock(self, name: str) -> None:
        file = self._locked.enter_context((self._folder / name).open())
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            message = f"another task has {name}"
            raise ConnectError(message) from error

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if not self._call.acquire(blocking=False):
            (self._folder / OVERLAP).touch()
            message = "two calls of one task overlap"
            raise ConnectError(message)
        try:
            yield
        finally:
            self._call.release()

    def _offset(self, name: str) -> int:
        offset = self.context.offset({"file": name})
        return int(offset["lines"]) if offset else 0

    def _record(self, name: str, lines: int, line: str) -> SourceRecord:
        topic = f"{self._topic}{name.removesuffix('.txt')}"
        return SourceRecord({"file": name}, {"lines": lines}, topic, line)


class RangeConnector(SourceConnector):
    """Divides servers it does not know into ranges of their names."""

    def start(self, config: Mapping[str, str]) -> None:
        """Keep the configuration."""
        self._config = {key: config[key] for key in ("folder", "topic.prefix")}

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Return one range, or two."""
        ranges = ["a-z"] if max_tasks == 1 else ["a-m", "n-z"]
        return [{**self._config, "server.range": each} for each in ranges]

    def stop(self) -> None:
        """Hold nothing."""


class RangeTask(SourceTask):
    """Finds the servers of its range, and copies the newest value of each metric of each."""

    def start(self, config: Mapping[str, str]) -> None:
        """Keep the range."""
        self._folder = Path(config["folder"])
        self._topic = config["topic.prefix"]
        self._first, self._last = config["server.range"].split("-")
        self._seen: dict[tuple[str, str], str] = {}

    def poll(self) -> list[SourceRecord] | None:
        """Return the metrics that changed; a file is a server, its lines are `metric=value`."""
        records = []
        for file in sorted(self._folder.glob("*.txt")):
            server = file.stem
            if not self._first <= server[0] <= self._last:
                continue
            for metric, _, value in (line.partition("=") for line in file.read_text().splitlines()):
                if self._seen.get((server, metric)) != value:
                    self._seen[server, metric] = value
                    partition = {"server": server, "metric": metric}
                    records.append(SourceRecord(partition, {"value": value}, f"{self._topic}{metric}", value))
        if not records:
            self.context.wait(LOOK_SECONDS)
        return records or None

    def stop(self) -> None:
        """Hold nothing."""


KEYS = ConfigDef(
    ConfigKey("folder", STRING, HIGH, doc="Where the files are."),
    ConfigKey("topic.prefix", STRING, HIGH, doc="Before the name of each topic."),
    ConfigKey("once", BOOLEAN, LOW, default=False, doc="Whether to end when all is read."),
    ConfigKey("exclusive", BOOLEAN, LOW, default=False, doc="Whether no other task may read the same file."),
)
PLUGINS = (
    PluginSpec(
        "author.FolderSourceConnector", PluginKind.SOURCE, "0.1", "Copies the files of a folder.",
        KEYS, FolderConnector, "author.FolderSourceTask", FolderTask,
    ),
    PluginSpec(
        "author.RangeSourceConnector", PluginKind.SOURCE, "0.1", "Copies metrics of servers by ranges.",
        KEYS, RangeConnector, "author.RangeSourceTask", RangeTask,
    ),
)  # fmt: skip
