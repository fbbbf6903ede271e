"""What a system costs that has nothing to do: the time to its start, its memory then, its waiting tasks."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from pathlib import Path

from copycat_embedded.broker import EmbeddedKafka
from copycat_testkit.eventually import wait
from rich.progress import Progress

from tools.bench.fleets import in_turn
from tools.bench.load import Topics
from tools.bench.processes import cores_used, memory_and_resident_mb
from tools.bench.record_paths import file_sink, file_source
from tools.bench.rest import Rest
from tools.bench.rows import Row
from tools.bench.systems import Copycat, Peer, System

READY_TIME, PROPORTIONAL, RESIDENT = FRESH_ROWS = ("ready-time", "memory-fresh", "memory-fresh-resident")
#: From being ready to the look at memory, seconds: what a start leaves behind has ended.
_SETTLE = 10.0
#: From the last start or pause of a task to the look at the processor, and how long that takes, seconds.
_TASKS_SETTLE = 15.0
_SPAN = 20.0
_runs = itertools.count()
COUNTED = "all processes but the broker, no connectors, 10 s after the start"


def fresh_rows(folder: Path, names: set[str], pairs: int, progress: Progress) -> Iterator[Row]:
    """Measure those of the rows that are asked for; all when no names are."""
    if not names or READY_TIME in names:
        yield _ready_time(folder, pairs, progress)
    if not names or names & {PROPORTIONAL, RESIDENT}:
        yield from _memory(folder, pairs, progress)


def _ready_time(folder: Path, pairs: int, progress: Progress) -> Row:
    row = Row(READY_TIME, "s", "from nothing: an embedded broker and one worker, fresh data directory")
    task = progress.add_task(row.name, total=pairs)
    for pair in range(pairs):
        ours = Copycat(folder / f"ready-{pair}", None)
        ours.stop()
        row.ours.append(ours.ready_seconds)
        began = time.monotonic()
        with EmbeddedKafka(folder / f"ready-broker-{pair}") as broker:
            peer = Peer(folder / f"ready-connect-{pair}", broker.bootstrap)
            row.peer.append(time.monotonic() - began)
            peer.stop()
        progress.advance(task)
    return row


def _memory(folder: Path, pairs: int, progress: Progress) -> tuple[Row, Row]:
    rows = (
        Row(PROPORTIONAL, "MB", f"proportional resident (PSS): {COUNTED}"),
        Row(RESIDENT, "MB", f"resident (RSS), shared pages counted for each process: {COUNTED}"),
    )
    task = progress.add_task(PROPORTIONAL, total=pairs)
    for pair in range(pairs):
        with EmbeddedKafka(folder / f"fresh-broker-{pair}") as broker:
            ours = Copycat(folder / f"fresh-{pair}", broker.bootstrap)
            peer = Peer(folder / f"fresh-connect-{pair}", broker.bootstrap)
            time.sleep(_SETTLE)  # the measurement is of what is left after a time
            sides: tuple[System, System] = (ours, peer)
            in_turn(rows, _figures, sides)
            ours.stop()
            peer.stop()
        progress.advance(task)
    return rows


def _figures(system: System) -> tuple[float, ...]:
    return memory_and_resident_mb(system.pid)


def cores_with_waiting_tasks(rest: Rest, topics: Topics, pid: int, folder: Path, tasks: int) -> float:
    """Return the share of one core used by a system with so many waiting tasks, after settling."""
    topic = f"bench-idle-{pid}-{next(_runs)}"
    quiet = folder / "quiet.txt"
    quiet.write_text("one line\n")
    topics.create(topic)
    names = [f"{topic}-{number}" for number in range(tasks)]
    for number, name in enumerate(names):
        rest.create(
            name, file_source(quiet, topic) if number % 2 else file_sink(folder / f"{name}.out", topic)
        )
    for name in names:
        wait(lambda name=name: rest.running(name), 300, f"{name} does not run")  # type: ignore[misc]
    for name in names[: tasks // 2]:
        rest.pause(name)
    cores_used(pid, _TASKS_SETTLE)
    used = cores_used(pid, _SPAN)
    for name in names:
        rest.delete(name)
    topics.delete(topic)
    return used
