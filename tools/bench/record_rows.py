"""Rows that move records between files and topics: as they are, converted, transformed, and out of logs.

Each is the speed of one connector with one task, if not said otherwise. kcat, of Debian, is the shortest way
between a file and a topic on the client library that Copycat uses: it does some of the rows, too.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from copycat_embedded.places import user_cache
from copycat_testkit.debian import one_at_a_time, unpack
from copycat_testkit.eventually import wait

from tools.bench.rows import RECORDS_PER_SECOND, CpuMeter, Moved, Row
from tools.bench.systems import Copycat, Rest, System, file_sink, file_source
from tools.bench.topics import (
    LINE_BYTES,
    PACE,
    SAMPLE,
    Samples,
    Topics,
    in_envelopes,
    json_entries,
    map_entries,
)

_JSON: Final = "org.apache.kafka.connect.json.JsonConverter"
_TRANSFORMS: Final = "org.apache.kafka.connect.transforms"

JSON_PLAIN: Final = {"value.converter": _JSON, "value.converter.schemas.enable": "false"}
JSON_SCHEMAS: Final = {"value.converter": _JSON, "value.converter.schemas.enable": "true"}
_INSERT: Final = {
    "transforms.insert.type": f"{_TRANSFORMS}.InsertField$Value",
    "transforms.insert.static.field": "site",
    "transforms.insert.static.value": "north",
}
TOPIC_TO_FILE_JSON_4SMT: Final = {
    **JSON_PLAIN,
    **_INSERT,
    "transforms": "insert,mask,replace,cast",
    "transforms.mask.type": f"{_TRANSFORMS}.MaskField$Value",
    "transforms.mask.fields": "user",
    "transforms.replace.type": f"{_TRANSFORMS}.ReplaceField$Value",
    "transforms.replace.exclude": "agent",
    "transforms.cast.type": f"{_TRANSFORMS}.Cast$Value",
    "transforms.cast.spec": "ms:string",
}
FILE_TO_TOPIC_JSON_2SMT: Final = {
    **JSON_PLAIN,
    **_INSERT,
    "transforms": "hoist,insert",
    "transforms.hoist.type": f"{_TRANSFORMS}.HoistField$Value",
    "transforms.hoist.field": "line",
}
_TUNED: Final = {"linger.ms": "20", "batch.size": "1048576"}
_OVERRIDES: Final = {f"producer.override.{key}": value for key, value in _TUNED.items()}
_STRING: Final = "143-byte JSON lines, one partition, String converter"
_LINES: Final = "143-byte JSON lines, one partition"
_ENVELOPES: Final = "bench-envelopes"
_FOUR_PARTITIONS: Final = "bench-four"
_TASKS: Final = (1, 2, 4)
#: Rows that kcat does too.
_SOURCE, _SOURCE_TUNED, _SINK = "file-to-topic", "file-to-topic-tuned", "topic-to-file"
_PACKAGES_OF_KCAT: Final = ("kcat", "librdkafka1", "libyajl2")
_runs = itertools.count()


def file_measures(
    topics: Topics, source: Path, count: int, topic: str
) -> Iterator[tuple[Row, Callable[[System], Moved]]]:
    """Yield the rows and how each is measured; `topic` holds the `count` lines of `source`."""
    yield (
        Row(_SOURCE, RECORDS_PER_SECOND, f"{_STRING}, default producer"),
        lambda system: file_to_topic(system, topics, source, count, {}),
    )
    yield (
        Row(_SOURCE_TUNED, RECORDS_PER_SECOND, f"{_STRING}, linger.ms=20, batch.size=1048576"),
        lambda system: file_to_topic(system, topics, source, count, _OVERRIDES),
    )
    yield (
        Row(_SINK, RECORDS_PER_SECOND, f"{_STRING}, default consumer"),
        lambda system: topic_to_file(system, topic, count, {}),
    )

    @cache
    def filled() -> str:
        topics.create(_FOUR_PARTITIONS, partitions=max(_TASKS))
        topics.fill(_FOUR_PARTITIONS, source)
        return _FOUR_PARTITIONS

    def by_tasks(tasks: int) -> Callable[[System], Moved]:
        # Connect's tasks cut each other's lines, so nothing is read out of the file but its size.
        return lambda system: topic_to_file(
            system, filled(), count, {"tasks.max": str(tasks)}, length=LINE_BYTES + 1
        )

    for tasks in _TASKS:
        settings = f"143-byte JSON lines, four partitions, String converter, tasks.max={tasks}, one file"
        yield Row(f"topic-to-file-tasks-{tasks}", RECORDS_PER_SECOND, settings), by_tasks(tasks)


def kcat_measures(kcat: Kcat, source: Path, count: int, topic: str) -> dict[str, Callable[[], Moved]]:
    """Return what kcat does in rows of `file_measures`, by their names."""
    return {
        _SOURCE: lambda: kcat.file_to_topic(source, count, {}),
        _SOURCE_TUNED: lambda: kcat.file_to_topic(source, count, _TUNED),
        _SINK: lambda: kcat.topic_to_file(topic, count, LINE_BYTES + 1),
    }


def json_measures(
    topics: Topics, source: Path, count: int, topic: str
) -> Iterator[tuple[Row, Callable[[System], Moved]]]:
    """Yield the rows and how each is measured; `topic` holds the `count` lines of `source`."""
    mapped, structured, written = Samples(map_entries), Samples(bytes), Samples(json_entries)

    @cache
    def filled() -> str:
        topics.create(_ENVELOPES)
        topics.fill(_ENVELOPES, source, in_envelopes)
        return _ENVELOPES

    yield (
        Row(
            "topic-to-file-json-4smt",
            RECORDS_PER_SECOND,
            f"{_LINES}, JsonConverter without schemas, InsertField, MaskField, ReplaceField, Cast",
        ),
        lambda system: topic_to_file(system, topic, count, TOPIC_TO_FILE_JSON_4SMT, samples=mapped),
    )
    yield (
        Row(
            "topic-to-file-json-schemas",
            RECORDS_PER_SECOND,
            f"{_LINES}, in envelopes, JsonConverter with schemas",
        ),
        lambda system: topic_to_file(system, filled(), count, JSON_SCHEMAS, samples=structured),
    )
    yield (
        Row(
            "file-to-topic-json-2smt",
            RECORDS_PER_SECOND,
            f"{_LINES}, HoistField, InsertField, JsonConverter without schemas, default producer",
        ),
        lambda system: file_to_topic(system, topics, source, count, FILE_TO_TOPIC_JSON_2SMT, samples=written),
    )


def log_measures(topics: Topics, source: Path, count: int) -> Iterator[tuple[Row, Callable[[System], Moved]]]:
    """Yield the row and how it is measured; both sides read `source`, a file of `count` lines."""

    def measure(system: System) -> Moved:
        ours = {"connector.class": "LogSource", "files": str(source)} if isinstance(system, Copycat) else {}
        return file_to_topic(system, topics, source, count, ours)

    yield (
        Row(
            "log-to-topic",
            RECORDS_PER_SECOND,
            "143-byte JSON lines, one partition, String converter, default producer; Copycat's LogSource "
            "beside FileStreamSource",
        ),
        measure,
    )


def file_to_topic(
    system: System,
    topics: Topics,
    source: Path,
    count: int,
    overrides: Mapping[str, str],
    *,
    samples: Samples | None = None,
) -> Moved:
    """Return how fast a file of `count` lines reaches a new topic; `samples` are of its values."""
    name, rest = f"bench-source-{next(_runs)}-{time.time_ns()}", Rest(system.url)
    topics.create(name)
    meter = CpuMeter(system.pid)
    rest.create(name, {**file_source(source, name), **overrides})
    moved = meter.moved(count, topics.arrival_rate(name, count))
    rest.delete(name)
    if samples is not None:
        samples.compare(topics.first(name, SAMPLE))
    topics.delete(name)
    return moved


def topic_to_file(
    system: System,
    topic: str,
    count: int,
    overrides: Mapping[str, str],
    *,
    samples: Samples | None = None,
    length: int = 0,
) -> Moved:
    """Return how fast a topic of `count` lines reaches a new file; `samples` are of its lines.

    The lines of a topic become lines of one length, which the first of them shows unless it is given: size
    counts them.
    """
    name, rest = f"bench-sink-{next(_runs)}-{time.time_ns()}", Rest(system.url)
    target = Path(tempfile.gettempdir()) / f"{name}.out"
    meter = CpuMeter(system.pid)
    rest.create(name, {**file_sink(target, topic), **overrides})
    moved = meter.moved(*_growth(target, count, length))
    wait(lambda: rest.running(name), 30, "the sink does not run")
    rest.delete(name)
    with target.open("rb") as lines:
        sample = list(itertools.islice(lines, SAMPLE))
    if not length and len({len(line) for line in sample}) != 1:
        raise RuntimeError(f"{name} wrote lines of several lengths")
    if samples is not None:
        samples.compare([line.rstrip(b"\n") for line in sample])
    target.unlink()
    return moved


def _growth(target: Path, count: int, length: int) -> tuple[float, float]:
    """Return how many of `count` lines have reached a file that is new, and how many do in a second.

    The last bytes wait in a writer's buffer until its next flush, so the rate is taken over the bulk.
    """

    def written() -> int:
        return target.stat().st_size if target.exists() else 0

    started = wait(lambda: written() > 0, 60, "nothing was written", PACE)
    first = written()
    with target.open("rb") as lines:
        each = length or len(lines.readline())
    enough = count * each - 1_000_000
    ended = wait(lambda: written() >= enough, 300, "not all was written", PACE)
    size = written()
    return size / each, (size - first) / each / (ended - started)


class Kcat:
    """Runs kcat against one broker; each run is a process of its own."""

    def __init__(self, bootstrap: str, topics: Topics) -> None:
        self._bootstrap = bootstrap
        self._topics = topics

    def file_to_topic(self, source: Path, count: int, settings: Mapping[str, str]) -> Moved:
        """Return how fast a file of `count` lines reaches a new topic, with these settings of the client."""
        name = f"bench-kcat-{time.time_ns()}"
        self._topics.create(name)
        options = [part for each in settings.items() for part in ("-X", "=".join(each))]
        process = self._start("-P", "-t", name, *options, "-l", str(source))
        meter = CpuMeter(process.pid)
        moved = meter.moved(count, self._topics.arrival_rate(name, count))
        process.wait(60)
        self._topics.delete(name)
        return moved

    def topic_to_file(self, topic: str, count: int, length: int) -> Moved:
        """Return how fast a topic of `count` values reaches a new file; a line has `length` bytes."""
        with tempfile.NamedTemporaryFile(prefix="bench-kcat-") as file:
            process = self._start(
                "-C", "-t", topic, "-o", "beginning", "-c", str(count), "-q", output=file.fileno()
            )
            meter = CpuMeter(process.pid)
            moved = meter.moved(*_growth(Path(file.name), count, length))
            process.wait(60)
        return moved

    def _start(self, *options: str, output: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
        program, environment = _kcat()
        return subprocess.Popen(
            [program, "-b", self._bootstrap, *options], stdout=output, env={**os.environ, **environment}
        )


@cache
def _kcat() -> tuple[str, Mapping[str, str]]:
    """Return kcat, the one on the path or Debian's, and where its libraries lie."""
    if (found := shutil.which("kcat")) is not None:
        return found, {}
    folder = user_cache() / "kcat"
    with one_at_a_time("kcat-unpack"):
        if not folder.exists():
            half = folder.with_suffix(".part")
            shutil.rmtree(half, ignore_errors=True)
            for package in _PACKAGES_OF_KCAT:
                unpack(package, half)
            half.rename(folder)
    [library] = {str(each.parent) for each in folder.glob("usr/lib/*/librdkafka.so.1")}
    return str(folder / "usr/bin/kcat"), {"LD_LIBRARY_PATH": library}
