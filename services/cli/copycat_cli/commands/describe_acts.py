"""What `copycat describe` shows of what Copycat did by itself, and of the restarts it gave up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from copycat_cli.api.history import ACT, PastChange, get_history
from copycat_cli.errors import CliError
from copycat_cli.output.blocks import Block, Lines, Table
from copycat_cli.session import Session

LATEST: Final = 5
#: Enough to find the newest word on each circuit.
READ: Final = 200
CIRCUIT: Final = "circuit"
OPENED: Final = "circuit opened"


def latest_acts(session: Session, connector: str) -> tuple[PastChange, ...]:
    """Return the newest acts; none for a cluster without a history, such as Apache Kafka Connect."""
    try:
        return get_history(session.rest, connector, kinds=[ACT], limit=READ).changes
    except CliError:
        return ()  # the rest of what is described is worth showing all the same


def act_blocks(acts: Sequence[PastChange]) -> Iterator[Block]:
    """Show the circuits that are open, then the latest acts."""
    opened = [each for each in _circuits(acts) if each.what == OPENED]
    if opened:
        lines = [
            f"{_instance(each)}: open since {each.time}. {each.reason or ''}".rstrip() for each in opened
        ]
        yield Lines(lines, "Circuit: no more restarts without a hand")
    if acts:
        rows = [(each.time, _instance(each), each.what, each.reason or "") for each in acts[:LATEST]]
        yield Table(("TIME", "", "WHAT", "WHY"), rows, "Done without a hand")


def _circuits(acts: Sequence[PastChange]) -> list[PastChange]:
    """Return the newest word on the circuit of each instance."""
    newest: dict[int | None, PastChange] = {}
    for each in acts:  # newest first
        if each.what.startswith(CIRCUIT):
            newest.setdefault(each.task, each)
    return list(newest.values())


def _instance(change: PastChange) -> str:
    return "connector" if change.task is None else f"task {change.task}"
