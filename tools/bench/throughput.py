"""Records a second through one connector with one task, from the first record moved to the last."""

from __future__ import annotations

import itertools
import tempfile
import time
from pathlib import Path

from copycat_testkit.eventually import wait

from tools.bench.load import Topics
from tools.bench.processes import Moved, Stretch
from tools.bench.record_paths import file_sink, file_source
from tools.bench.rest import Rest
from tools.bench.samples import SAMPLE, Samples
from tools.bench.systems import System

PACE = 0.01
_runs = itertools.count()


def file_to_topic(
    system: System,
    topics: Topics,
    source: Path,
    count: int,
    overrides: dict[str, str],
    *,
    samples: Samples | None = None,
) -> Moved:
    """Return how fast a file of `count` lines reaches a new topic; `samples` are of its values."""
    name, rest = f"bench-source-{next(_runs)}-{time.time_ns()}", Rest(system.url)
    topics.create(name)
    stretch = Stretch(system.pid)
    rest.create(name, {**file_source(source, name), **overrides})
    started = wait(lambda: topics.end(name) > 0, 60, "no record arrived", PACE)
    first = topics.end(name)
    ended = wait(lambda: topics.end(name) >= count, 300, "not all records arrived", PACE)
    moved = stretch.moved(count, (count - first) / (ended - started))
    rest.delete(name)
    if samples is not None:
        samples.compare(topics.first(name, SAMPLE))
    topics.delete(name)
    return moved


def topic_to_file(
    system: System,
    topic: str,
    count: int,
    overrides: dict[str, str],
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

    def written() -> int:
        return target.stat().st_size if target.exists() else 0

    stretch = Stretch(system.pid)
    rest.create(name, {**file_sink(target, topic), **overrides})
    # The last bytes wait in a writer's buffer until its next flush, so the rate is taken over the bulk.
    started = wait(lambda: written() > 0, 60, "nothing was written", PACE)
    first = written()
    told = length or _first_length(target)
    enough = count * told - 1_000_000
    ended = wait(lambda: written() >= enough, 300, "not all was written", PACE)
    size = written()
    moved = stretch.moved(size / told, (size - first) / told / (ended - started))
    wait(lambda: rest.running(name), 30, "the sink does not run")
    rest.delete(name)
    with target.open("rb") as written_lines:
        sample = list(itertools.islice(written_lines, SAMPLE))
    if not length and {len(line) for line in sample} != {told}:
        message = f"{name} wrote lines of several lengths"
        raise RuntimeError(message)
    if samples is not None:
        samples.compare([line.rstrip(b"\n") for line in sample])
    target.unlink()
    return moved


def _first_length(target: Path) -> int:
    with target.open("rb") as lines:
        return len(lines.readline())
