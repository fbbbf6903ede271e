"""Rows of exactly-once sources, which want workers of their own: Kafka Connect's are switched as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Final

from rich.progress import Progress

from tools.bench.committed import Committed, committed_file_to_topic
from tools.bench.fleets import CopycatFleet, in_turn
from tools.bench.load import Topics, write_lines
from tools.bench.rest import Rest
from tools.bench.rows import Row
from tools.bench.systems import Copycat, Peer, shipped_kafka
from tools.bench.takeover import takeover

POLL: Final = {"exactly.once.support": "required", "transaction.boundary": "poll"}
INTERVAL: Final = {
    "exactly.once.support": "required",
    "transaction.boundary": "interval",
    "transaction.boundary.interval.ms": "1000",
}
AT_LEAST_ONCE: Final = {"delivery.guarantee": "at_least_once"}
WORKER: Final = {"exactly.once.source.support": "enabled"}
_LINES: Final = "143-byte JSON lines, one partition, String converter, default producer"
_SPEED: Final = {
    "file-to-topic-exactly-once": f"{_LINES}, transaction.boundary=poll; until all is committed",
    "file-to-topic-exactly-once-interval": f"{_LINES}, transaction.boundary=interval, 1000 ms; likewise",
    "exactly-once-to-at-least-once": f"{_LINES}; Copycat with interval 1000 ms, beside it at least once",
}
_CRASH: Final = "crash-to-flow-exactly-once"
_LOSS: Final = (
    "SIGKILL of one of 3 workers, 6 file sources with 20 lines/s, until all deliver; Copycat exactly once "
    "beside Copycat at least once"
)
EXACTLY_ONCE_ROWS: Final = (*_SPEED, _CRASH)


def exactly_once_rows(
    folder: Path, names: Set[str], pairs: int, records: int, progress: Progress
) -> Iterator[Row]:
    """Measure the rows of those names, all of them without names."""
    if not names or names & {*_SPEED}:
        yield from _speed_rows(folder / "exactly-once", names, pairs, records, progress)
    if not names or _CRASH in names:
        yield _crash_row(folder / "crash", pairs, progress)


def _speed_rows(folder: Path, names: Set[str], pairs: int, records: int, progress: Progress) -> Iterator[Row]:
    source = folder / "lines.txt"
    write_lines(source, records)
    with ExitStack() as stack:
        broker = stack.enter_context(shipped_kafka(folder / "broker"))
        ours = Copycat(folder / "copycat", broker.bootstrap, WORKER)
        stack.callback(ours.stop)
        peer = Peer(folder / "connect", broker.bootstrap, WORKER)
        stack.callback(peer.stop)
        topics, committed = Topics(broker.bootstrap), Committed(broker.bootstrap)

        def rate(url: str, delivery: dict[str, str]) -> Callable[[], float]:
            return partial(
                committed_file_to_topic, Rest(url), topics, source, records, delivery, committed=committed
            )

        sides = {
            "file-to-topic-exactly-once": (rate(ours.url, POLL), rate(peer.url, POLL)),
            "file-to-topic-exactly-once-interval": (rate(ours.url, INTERVAL), rate(peer.url, INTERVAL)),
            "exactly-once-to-at-least-once": (rate(ours.url, INTERVAL), rate(ours.url, AT_LEAST_ONCE)),
        }
        for name, settings in _SPEED.items():
            if not names or name in names:
                yield _measured(Row(name, "records/s", settings), sides[name], pairs, progress)


def _measured(
    row: Row, sides: tuple[Callable[[], float], Callable[[], float]], pairs: int, progress: Progress
) -> Row:
    """Measure both sides in turn; a first pair warms them and does not count."""
    task = progress.add_task(row.name, total=pairs + 1)
    for pair in range(pairs + 1):
        figures = sides[0](), sides[1]()
        if pair:
            row.ours.append(figures[0])
            row.peer.append(figures[1])
        progress.advance(task)
    return row


def _crash_row(folder: Path, pairs: int, progress: Progress) -> Row:
    row = Row(_CRASH, "s", _LOSS)
    with shipped_kafka(folder / "broker") as broker:
        fleet = CopycatFleet(folder / "copycat", broker.bootstrap, 3)
        task = progress.add_task(row.name, total=pairs)
        try:
            for _ in range(pairs):
                in_turn(
                    (row,),
                    lambda delivery: takeover(fleet, broker.bootstrap, folder, delivery)[:1],
                    (POLL, AT_LEAST_ONCE),
                )
                progress.advance(task)
        finally:
            fleet.stop()
    return row
