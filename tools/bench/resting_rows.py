"""What a system costs that has nothing to do: the time to its start, its memory then, its waiting tasks."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from copycat_embedded.broker import EmbeddedKafka
from copycat_testkit.eventually import wait
from copycat_testkit.processes import cpu_seconds, memory_mb, tree

from tools.bench.rows import Row, Run
from tools.bench.systems import Copycat, Peer, Rest, System, file_sink, file_source
from tools.bench.topics import Topics

_READY_TIME, _PROPORTIONAL, _RESIDENT = FRESH_ROWS = ("ready-time", "memory-fresh", "memory-fresh-resident")
_IDLE_TASKS: Final = (20, 100)
#: From being ready to the look at memory, seconds: what a start leaves behind has ended.
SETTLE_SECONDS: Final = 10.0
#: From the last start or pause of a task to the look at the processor, and how long that takes.
_TASKS_SETTLE_SECONDS: Final = 15.0
LOOK_SECONDS: Final = 20.0
_COUNTED: Final = "all processes but the broker, no connectors, 10 s after the start"
_runs = itertools.count()


def fresh_rows(run: Run) -> Iterator[Row]:
    """Measure systems that have just started."""
    if run.wants(_READY_TIME):
        yield _ready_time(run)
    if run.wants(_PROPORTIONAL, _RESIDENT):
        yield from _memory_fresh(run)


def _ready_time(run: Run) -> Row:
    def ours() -> float:
        system = Copycat(run.folder / f"ready-{next(_runs)}", None)
        system.stop()
        return system.ready_seconds

    def peer() -> float:
        began, number = time.monotonic(), next(_runs)
        with EmbeddedKafka(run.folder / f"ready-broker-{number}") as broker:
            system = Peer(run.folder / f"ready-connect-{number}", broker.bootstrap)
            ready = time.monotonic() - began
            system.stop()
        return ready

    row = Row(_READY_TIME, "s", "from nothing: an embedded broker and one worker, fresh data directory")
    return run.measure(row, {"ours": ours, "peer": peer})


def _memory_fresh(run: Run) -> tuple[Row, Row]:
    rows = (
        Row(_PROPORTIONAL, "MB", f"proportional resident (PSS): {_COUNTED}"),
        Row(_RESIDENT, "MB", f"resident (RSS), shared pages counted for each process: {_COUNTED}"),
    )
    task = run.progress.add_task(_PROPORTIONAL, total=run.pairs)
    for pair in range(run.pairs):
        with EmbeddedKafka(run.folder / f"fresh-broker-{pair}") as broker:
            ours = Copycat(run.folder / f"fresh-{pair}", broker.bootstrap)
            peer = Peer(run.folder / f"fresh-connect-{pair}", broker.bootstrap)
            time.sleep(SETTLE_SECONDS)  # the measurement is of what is left after a time
            for side, system in (("ours", ours), ("peer", peer)):
                for row, figure in zip(rows, memory_mb(tree(system.pid)), strict=True):
                    row.note(side, figure)
            ours.stop()
            peer.stop()
        run.progress.advance(task)
    return rows


def resting_measures(topics: Topics, folder: Path) -> Iterator[tuple[Row, Callable[[System], float]]]:
    """Yield the rows of systems that have done others before, and how each is measured."""
    for tasks in _IDLE_TASKS:
        settings = "half paused, a quarter sources, a quarter sinks, after 15 s"
        row = Row(f"idle-{tasks}-tasks", "cores", settings)
        yield row, partial(_cores_with_waiting_tasks, topics=topics, folder=folder, tasks=tasks)
    yield (
        Row("memory", "MB", "proportional resident, all but the broker, after the rows above"),
        lambda system: memory_mb(tree(system.pid))[0],
    )


def _cores_with_waiting_tasks(system: System, *, topics: Topics, folder: Path, tasks: int) -> float:
    """Return the share of one core used by a system with so many waiting tasks, after settling."""
    rest, topic = Rest(system.url), f"bench-idle-{system.pid}-{next(_runs)}"
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
    cores_used(system.pid, _TASKS_SETTLE_SECONDS)
    used = cores_used(system.pid, LOOK_SECONDS)
    for name in names:
        rest.delete(name)
    topics.delete(topic)
    return used


def cores_used(pid: int, seconds: float) -> float:
    """Return the share of one core that a system uses while it is left alone."""
    processes = tree(pid)
    before, began = sum(cpu_seconds(processes).values()), time.monotonic()
    time.sleep(seconds)  # the measurement is of time itself
    return (sum(cpu_seconds(processes).values()) - before) / (time.monotonic() - began)
