"""What a system costs while twenty tasks wait: ten paused, five on a quiet file, five on a quiet topic."""

from __future__ import annotations

from pathlib import Path

from tools.bench.file_connectors import file_sink, file_source
from tools.bench.load import Topics
from tools.bench.processes import cores_used
from tools.bench.rest import Rest, wait

TASKS = 20
SETTLE = 15.0
SPAN = 20.0


def cores_with_waiting_tasks(rest: Rest, topics: Topics, pid: int, folder: Path) -> float:
    """Return the share of one core used by a system with twenty waiting tasks, after settling."""
    quiet, topic = folder / "quiet.txt", f"bench-idle-{pid}"
    quiet.write_text("one line\n")
    topics.create(topic)
    names = [f"bench-idle-{pid}-{number}" for number in range(TASKS)]
    for number, name in enumerate(names):
        rest.create(
            name, file_source(quiet, topic) if number % 2 else file_sink(folder / f"{name}.out", topic)
        )
    for name in names:
        wait(lambda name=name: rest.running(name), 120, f"{name} does not run")  # type: ignore[misc]
    for name in names[: TASKS // 2]:
        rest.pause(name)
    cores_used(pid, SETTLE)
    used = cores_used(pid, SPAN)
    for name in names:
        rest.delete(name)
    topics.delete(topic)
    return used
