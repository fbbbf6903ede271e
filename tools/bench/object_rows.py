"""Rows of the object sink: a topic into Parquet files of a folder. They have no peer: the rate counts."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Set
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pyarrow.parquet as pq
from copycat_testkit.eventually import wait
from rich.progress import Progress

from tools.bench.load import Topics, in_envelopes, write_lines
from tools.bench.rest import Rest
from tools.bench.rows import Row
from tools.bench.systems import Copycat, shipped_kafka

_NAME: Final = "topic-to-parquet"
OBJECT_ROWS: Final = (_NAME,)
_TOPIC: Final = "bench-objects"
_FILES: Final = 20
_PACE: Final = 0.01
_SETTINGS: Final = (
    "143-byte JSON lines in envelopes, JsonConverter with schemas, 6 columns, one partition, one task, "
    f"{_FILES} files of Parquet with snappy in a folder, default consumer; from the first file to the last"
)


def object_rows(folder: Path, names: Set[str], pairs: int, records: int, progress: Progress) -> Iterator[Row]:
    """Measure the rows of those names, all of them without names."""
    if names and not names & {*OBJECT_ROWS}:
        return
    size = records // _FILES
    with ExitStack() as stack:
        broker = stack.enter_context(shipped_kafka(folder / "broker-objects"))
        topics = Topics(broker.bootstrap)
        topics.create(_TOPIC)
        write_lines(folder / "objects.txt", size * _FILES)
        topics.fill(_TOPIC, folder / "objects.txt", in_envelopes)
        system = Copycat(folder / "copycat-objects", broker.bootstrap)
        stack.callback(system.stop)
        row = Row(_NAME, "records/s", _SETTINGS)
        task = progress.add_task(_NAME, total=pairs + 1)
        for pair in range(pairs + 1):  # the first warms and does not count
            figure = _rate(Rest(system.url), folder / f"parquet-{pair}", size)
            if pair:
                row.ours.append(figure)
            progress.advance(task)
        yield row


def _rate(rest: Rest, folder: Path, size: int) -> float:
    """Return the rate at which the topic reaches files of a new folder, from the first one to the last."""
    name = f"bench-objects-{time.time_ns()}"

    def files() -> list[Path]:
        return [*folder.glob(f"topics/{_TOPIC}/partition=0/*.parquet")]

    rest.create(
        name,
        {
            "connector.class": "ObjectSink",
            "topics": _TOPIC,
            "store.url": folder.as_uri(),
            "format.class": "parquet",
            "flush.size": str(size),
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        },
    )
    started = wait(lambda: bool(files()), 60, "no file appeared", _PACE)
    first = len(files())
    ended = wait(lambda: len(files()) == _FILES, 300, "not all files appeared", _PACE)
    rest.delete(name)
    found = sum(pq.read_metadata(file).num_rows for file in files())
    if found != size * _FILES:
        message = f"of {size * _FILES} records the files have {found}"
        raise RuntimeError(message)
    shutil.rmtree(folder)
    return (_FILES - first) * size / (ended - started)
