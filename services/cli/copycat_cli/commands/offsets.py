"""`copycat offsets`: show them; alter, move, reset, undo, each after it has shown what it would do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click
import msgspec
from copycat_rest.answers import JsonObject, Moved, OffsetsEffect

from copycat_cli.api.connectors import get_connector
from copycat_cli.api.offsets import (
    OffsetChanges,
    alter_offsets,
    dry_run_alter,
    dry_run_move,
    dry_run_reset,
    dry_run_undo,
    get_offsets,
    has_dry_runs,
    leading_there,
    reset_offsets,
    undo_offsets,
)
from copycat_cli.api.statuses import get_status
from copycat_cli.command import (
    cluster_command,
    confirm_on_terminal,
    connector_argument,
    dry_run_option,
    file_argument,
    yes_option,
)
from copycat_cli.connector_files import read_text, shown
from copycat_cli.errors import RefusedError, UsageError
from copycat_cli.output.blocks import Block, TableBlock, TextBlock
from copycat_cli.session import CommandSession

_COLUMNS = ("PARTITION", "BEFORE", "AFTER", "EFFECT")
_TOPIC, _NUMBER, _OFFSET = "kafka_topic", "kafka_partition", "kafka_offset"
_NONE = "none"


def _effect_blocks(connector: str, effect: OffsetsEffect) -> list[Block]:
    """Return the table, its sums and the notes."""
    when = f" (to {effect.time})" if effect.time else ""
    table = TableBlock(
        _COLUMNS,
        [_effect_row(moved) for moved in effect.offsets],
        title=f"What this would do to {connector}{when}:",
        empty=f"{connector} has no offsets that would move.",
    )
    notes = [f"Note: {note}." for note in effect.notes]
    return [table, TextBlock([*_sums(effect), *notes])]


def _offset_text(tree: object) -> str:
    """Return a map of the connector's own as text."""
    return msgspec.json.encode(tree).decode()


def _effect_row(moved: Moved) -> tuple[str, str, str, str]:
    partition = moved.partition
    shown = (
        f"{partition[_TOPIC]}-{partition[_NUMBER]}"
        if set(partition) == {_TOPIC, _NUMBER}
        else _offset_text(partition)
    )
    return shown, _offset(moved.before), _offset(moved.after), moved.effect.text


def _offset(offset: JsonObject | None) -> str:
    if offset is None:
        return _NONE
    return str(offset[_OFFSET]) if set(offset) == {_OFFSET} else _offset_text(offset)


def _sums(effect: OffsetsEffect) -> list[str]:
    """Return what all partitions do together, where there are several and all are known."""
    effects = [moved.effect for moved in effect.offsets]
    units = {each.unit for each in effects}
    repeated = [each.repeated for each in effects if each.repeated is not None]
    skipped = [each.skipped for each in effects if each.skipped is not None]
    if len(effects) < 2 or len(units) != 1 or not len(repeated) == len(skipped) == len(effects):
        return []
    return [f"In all: repeats at most {sum(repeated)} and skips at most {sum(skipped)} {units.pop()}."]


STOPPED = "STOPPED"


@dataclass(frozen=True, slots=True)
class _OffsetChange:
    """A change of offsets that a user asked for."""

    question: str
    """Asked before it is made."""
    dry_run: Callable[[], OffsetsEffect]
    """Says what it would do."""
    make: Callable[[OffsetsEffect | None], str]
    """Makes it, given what was foretold, and returns the cluster's words."""
    everywhere: bool = True
    """Apache Kafka Connect can make it too."""
    can_be_undone: bool = True
    """It can be taken back, where it was foretold."""


@cluster_command("alter")
@connector_argument
@file_argument
@dry_run_option
@yes_option("Alter")
def alter(session: CommandSession, connector: str, file: Path, dry_run: bool, yes: bool) -> None:
    """Alter offsets of a stopped connector.

    Those the file does not list stay. FILE is JSON as `copycat offsets get -o json` shows it; `-` reads
    standard input. An offset of null forgets its partition.

    \b
    A source:  {"offsets": [{"partition": {"filename": "/tmp/in.txt"}, "offset": {"position": 0}}]}
    A sink:    {"offsets": [{"partition": {"kafka_topic": "lines", "kafka_partition": 0},
                             "offset": {"kafka_offset": 100}}]}

    \b
    Examples:
      copycat offsets alter lines offsets.json --dry-run    # what would it repeat or skip?
      copycat stop lines && copycat status lines --wait-for STOPPED
      copycat offsets alter lines offsets.json
      copycat resume lines
    """
    wanted = _read(file)
    change = _OffsetChange(
        f"Alter offsets of {connector}?",
        lambda: dry_run_alter(session.rest, connector, wanted),
        lambda _: alter_offsets(session.rest, connector, wanted),
    )
    _carry_out(session, connector, change, dry_run=dry_run, yes=yes)


@cluster_command("move")
@connector_argument
@click.option("--rewind", metavar="TIME", help="Go back by so much from now: 2h, 90m, 1d12h, PT2H.")
@click.option("--to", metavar="TIME", help="Go to this point in time: 2026-11-20T10:00Z.")
@dry_run_option
@yes_option("Move")
def move(
    session: CommandSession, connector: str, *, rewind: str | None, to: str | None, dry_run: bool, yes: bool
) -> None:
    """Move a stopped connector to a point in time.

    A sink goes to the first record of that time or later, in each partition it has a position in: to the
    end where no record is as new, to the beginning where nothing older is left. With --rewind nothing
    moves forward. A source goes there if its connector can find offsets by time.

    \b
    Examples:
      copycat offsets move lines --rewind 2h --dry-run      # what would it repeat?
      copycat stop lines && copycat status lines --wait-for STOPPED
      copycat offsets move lines --rewind 2h                # shows that again, and asks
      copycat offsets move lines --to 2026-11-20T10:00Z --yes
      copycat resume lines
    """
    if (rewind is None) == (to is None):
        raise UsageError("Say where to: --rewind 2h, or --to 2026-11-20T10:00Z")
    change = _OffsetChange(
        f"Move offsets of {connector}?",
        lambda: dry_run_move(session.rest, connector, to, rewind),
        lambda effect: _alter_as_foretold(session, connector, effect),
        everywhere=False,
    )
    _carry_out(session, connector, change, dry_run=dry_run, yes=yes)


@cluster_command("reset")
@connector_argument
@dry_run_option
@yes_option("Reset")
def reset(session: CommandSession, connector: str, dry_run: bool, yes: bool) -> None:
    """Forget all offsets of a stopped connector.

    It then begins again from the start.

    \b
    Examples:
      copycat offsets reset lines --dry-run                 # what would it repeat?
      copycat stop lines && copycat status lines --wait-for STOPPED
      copycat offsets reset lines
      copycat resume lines
    """
    change = _OffsetChange(
        f"Forget all offsets of {connector}?",
        lambda: dry_run_reset(session.rest, connector),
        lambda _: reset_offsets(session.rest, connector),
    )
    _carry_out(session, connector, change, dry_run=dry_run, yes=yes)


@cluster_command("undo")
@connector_argument
@dry_run_option
@yes_option("Undo")
def undo(session: CommandSession, connector: str, dry_run: bool, yes: bool) -> None:
    """Undo the last alter, move or reset.

    The stopped connector goes back to where it was before, whoever changed it and however. Refused once it
    has run on from there: that would be lost.

    \b
    Examples:
      copycat offsets undo lines --dry-run
      copycat offsets undo lines
      copycat resume lines
    """
    change = _OffsetChange(
        f"Undo the last change of the offsets of {connector}?",
        lambda: dry_run_undo(session.rest, connector),
        lambda _: undo_offsets(session.rest, connector),
        everywhere=False,
        can_be_undone=False,
    )
    _carry_out(session, connector, change, dry_run=dry_run, yes=yes)


def _carry_out(
    session: CommandSession, connector: str, change: _OffsetChange, *, dry_run: bool, yes: bool
) -> None:
    effect = _foretold(session, connector, change, dry_run=dry_run)
    if dry_run and effect is not None:
        session.printer.show(effect, *_effect_blocks(connector, effect))
        return
    if effect is not None:
        session.printer.show_first(*_effect_blocks(connector, effect))
    if get_status(session.rest, connector).connector.state != STOPPED:
        raise _not_stopped(session, connector, "Nothing was changed.")
    if not yes:
        confirm_on_terminal(change.question)
    try:
        message = change.make(effect)
    except RefusedError as error:
        if get_status(session.rest, connector).connector.state == STOPPED:
            raise
        raise _not_stopped(session, connector, error.message) from error
    session.printer.did({"name": connector, "message": message}, f"{connector}: {message}")
    back = [(session.command("offsets undo", connector), "take it back")]
    session.next(
        (session.command("offsets get", connector), "see them"),
        *(back if change.can_be_undone and effect is not None else ()),
        (session.command("resume", connector), "let it run from there"),
    )


def _foretold(
    session: CommandSession, connector: str, change: _OffsetChange, *, dry_run: bool
) -> OffsetsEffect | None:
    """Return what a change would do; None where the cluster cannot say, and can make the change all the same.

    Raises:
        RefusedError: The cluster cannot say, and that is what was asked for.
    """
    get_connector(session.rest, connector)
    if has_dry_runs(session.rest, connector):
        return change.dry_run()
    if dry_run or not change.everywhere:
        raise RefusedError(
            "This cluster has no dry runs, moves to a time and undo: it is Apache Kafka Connect, or an older"
            " Copycat. Nothing was changed"
        )
    return None


def _alter_as_foretold(session: CommandSession, connector: str, effect: OffsetsEffect | None) -> str:
    """Do what was shown: the time that a duration leads to has moved on meanwhile."""
    if effect is None or not leading_there(effect).offsets:
        return "Nothing was changed: every partition is where it would go"
    return alter_offsets(session.rest, connector, leading_there(effect))


def _not_stopped(session: CommandSession, connector: str, first: str) -> RefusedError:
    how = f"{session.command('stop', connector)}, and {session.command('resume', connector)} afterwards"
    return RefusedError(f"{first}\n{connector} is not stopped: {how}")


def _read(file: Path) -> OffsetChanges:
    try:
        return msgspec.json.decode(read_text(file), type=OffsetChanges)
    except msgspec.DecodeError as error:
        raise UsageError(
            f"{shown(file)} is no list of offsets: {error}. copycat offsets alter --help shows one"
        ) from error


@cluster_command("get")
@connector_argument
def get(session: CommandSession, connector: str) -> None:
    """Show the committed offsets.

    Of a source: how far it has read; of a sink: up to which record it has written.

    \b
    Examples:
      copycat offsets get lines
      copycat offsets get lines -o json > offsets.json    # edit it, then: copycat offsets alter
    """
    found = get_offsets(session.rest, connector)
    rows = [(_offset_text(entry.partition), _offset_text(entry.offset)) for entry in found.offsets]
    session.printer.show(
        found, TableBlock(("PARTITION", "OFFSET"), rows, empty=f"{connector} has no offsets yet.")
    )
    session.next(
        (session.command("offsets move", options=("--help",)), "how to go back by a time"),
        (session.command("offsets reset", options=("--help",)), "how to begin again from the start"),
    )


@click.group(commands=[get, alter, move, reset, undo])
def offsets() -> None:
    """Show or change how far a connector came.

    Every change shows first what it would repeat and skip, and asks; --dry-run only shows it, --yes does not
    ask. Where nobody can be asked, in a script, one of the two is needed.

    \b
    To let a connector do the last two hours again:
      copycat offsets move lines --rewind 2h --dry-run
      copycat stop lines
      copycat status lines --wait-for STOPPED
      copycat offsets move lines --rewind 2h
      copycat resume lines

    \b
    To take that back, as long as it has not run on from there:
      copycat offsets undo lines

    \b
    To let a connector begin again from its start:
      copycat offsets reset lines
    """
