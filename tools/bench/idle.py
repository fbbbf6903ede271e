"""What a system costs while tasks wait: half of them paused, the others on a quiet file or a quiet topic."""

from __future__ import annotations

import itertools
from pathlib import Path

from tools.bench.file_connectors import file_sink, file_source
from tools.bench.load import Topics
from tools.bench.processes import cores_used
from tools.bench.rest import Rest, wait

SETTLE = 15.0
SPAN = 20.0
_runs = itertools.count()


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
    cores_used(pid, SETTLE)
    used = cores_used(pid, SPAN)
    for name in names:
        rest.delete(name)
    topics.delete(topic)
    return used
