"""Records a second through one connector with one task, from the first record moved to the last."""

from __future__ import annotations

import itertools
import tempfile
import time
from pathlib import Path

from tools.bench.load import LINE_BYTES, Topics
from tools.bench.rest import Rest, wait

STRING = "org.apache.kafka.connect.storage.StringConverter"
PACE = 0.01
_runs = itertools.count()


def file_to_topic(rest: Rest, topics: Topics, source: Path, count: int, overrides: dict[str, str]) -> float:
    """Return the rate at which a file of `count` lines reaches a new topic."""
    name = f"bench-source-{next(_runs)}-{time.time_ns()}"
    topics.create(name)
    rest.create(
        name,
        {
            "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
            "tasks.max": "1",
            "file": str(source),
            "topic": name,
            "key.converter": STRING,
            "value.converter": STRING,
            **overrides,
        },
    )
    started = wait(lambda: topics.end(name) > 0, 60, "no record arrived", PACE)
    first = topics.end(name)
    ended = wait(lambda: topics.end(name) >= count, 300, "not all records arrived", PACE)
    rest.delete(name)
    topics.delete(name)
    return (count - first) / (ended - started)


def topic_to_file(rest: Rest, topic: str, count: int, overrides: dict[str, str]) -> float:
    """Return the rate at which a topic of `count` lines reaches a new file."""
    name = f"bench-sink-{next(_runs)}-{time.time_ns()}"
    target = Path(tempfile.gettempdir()) / f"{name}.out"
    size = count * (LINE_BYTES + 1)

    def written() -> int:
        return target.stat().st_size if target.exists() else 0

    rest.create(
        name,
        {
            "connector.class": "org.apache.kafka.connect.file.FileStreamSinkConnector",
            "tasks.max": "1",
            "file": str(target),
            "topics": topic,
            "key.converter": STRING,
            "value.converter": STRING,
            **overrides,
        },
    )
    # The last bytes wait in a writer's buffer until its next flush, so the rate is taken over the bulk.
    started = wait(lambda: written() > 0, 60, "nothing was written", PACE)
    first = written()
    enough = size - 1_000_000
    ended = wait(lambda: written() >= enough, 300, "not all was written", PACE)
    moved = (written() - first) / (LINE_BYTES + 1)
    wait(lambda: rest.running(name), 30, "the sink does not run")
    rest.delete(name)
    target.unlink()
    return moved / (ended - started)
