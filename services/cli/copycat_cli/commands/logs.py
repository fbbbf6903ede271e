"""`copycat logs`: what a system of `copycat up` writes, and its log levels."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click
import platformdirs
from copycat_connect.log_levels import LEVELS, setting_level

from copycat_cli.api.workers import get_logger, list_loggers, set_level
from copycat_cli.command import cluster_command
from copycat_cli.errors import CliError, UnknownNameError
from copycat_cli.output.blocks import TableBlock
from copycat_cli.output.printer import JSON, TABLE
from copycat_cli.session import CommandSession

#: Keys of a line that are shown in a place of their own; all others follow the message.
_PLACED: Final = frozenset({"time", "level", "service", "logger", "message", "trace"})
#: As Kafka's broker writes: `[2026-01-31 23:59:59,123] WARN text`, in local time.
_BROKER: Final = re.compile(r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\] ([A-Z]+) (.*)", re.DOTALL)
#: What a process says outside of its log, such as why it cannot start.
_UNSPOKEN_LEVEL: Final = "WARN"


@dataclass(frozen=True, slots=True)
class _LogLine:
    """One line of a log, in its parts."""

    service: str
    """Which program wrote it: the name of its file."""
    time: str
    """ISO 8601, UTC, milliseconds; of a line without one that of the line before."""
    level: str
    """A name in `copycat_connect.log_levels.LEVELS`."""
    message: str
    """What it says."""
    fields: Mapping[str, object] = field(default_factory=dict)
    """What it is about: `connector`, `task`, `why` ..."""
    trace: str = ""
    """The stack trace, or nothing."""

    def tree(self) -> dict[str, object]:
        """Return the line for programs."""
        trace = {"trace": self.trace} if self.trace else {}
        return {
            "time": self.time, "level": self.level, "service": self.service, "message": self.message,
            **self.fields, **trace,
        }  # fmt: skip

    def text(self) -> str:
        """Return the line for people; a trace follows it, indented."""
        about = "".join(f" {key}={value}" for key, value in self.fields.items())
        trace = "".join(f"\n    {line}" for line in self.trace.splitlines())
        return f"{self.time} {self.level:5} {self.service}: {self.message}{about}{trace}"


def _read_line(service: str, text: str, last_time: str = "") -> _LogLine:
    """Read a line of a program's log file, whatever it is."""
    found = _object(text)
    if found is not None and isinstance(found.get("message"), str):
        level = setting_level(str(found.get("level"))) or _UNSPOKEN_LEVEL
        fields = {key: value for key, value in found.items() if key not in _PLACED}
        time = str(found.get("time") or last_time)
        return _LogLine(service, time, level, str(found["message"]), fields, str(found.get("trace") or ""))
    match = _BROKER.fullmatch(text)
    if match is not None:
        local = datetime.strptime(match[1], "%Y-%m-%d %H:%M:%S,%f").astimezone(UTC)
        level = setting_level(match[2]) or _UNSPOKEN_LEVEL
        return _LogLine(service, local.isoformat(timespec="milliseconds"), level, match[3])
    return _LogLine(service, last_time, _UNSPOKEN_LEVEL, text)


@dataclass(frozen=True, slots=True)
class _Choice:
    """Which lines are wanted."""

    level: str = "ALL"
    """The least level."""
    connector: str | None = None
    """Only lines about this connector and its tasks."""

    def takes(self, line: _LogLine) -> bool:
        """Whether a line is wanted."""
        about = self.connector is None or line.fields.get("connector") == self.connector
        return about and LEVELS[line.level] >= LEVELS[self.level]


def _object(text: str) -> dict[str, object] | None:
    if not text.startswith("{"):
        return None
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


_ENDING: Final = ".log"
#: What is read of the end of each log before anything is chosen.
_TAIL_BYTES: Final = 32 * 1024 * 1024


@dataclass(slots=True)
class _LogFolder:
    """Reads the logs of all programs, or of one; remembers how far."""

    folder: Path
    """The folder."""
    service: str | None = None
    """Only this program; None for all."""
    _read: dict[Path, int] = field(default_factory=dict)
    _half: dict[Path, bytes] = field(default_factory=dict)
    _times: dict[Path, str] = field(default_factory=dict)

    def files(self) -> list[Path]:
        """Return the logs of the wanted programs.

        Raises:
            NotFoundError: It does not exist.
        """
        found = sorted(self.folder.glob(f"*{_ENDING}"))
        if not found:
            raise UnknownNameError(
                f"There are no logs in {self.folder}: no `copycat up` has run with this data directory. "
                "Name another with --data-dir. Services that were started otherwise write to their standard "
                "error: see what started them, for example docker compose logs, kubectl logs or journalctl"
            )
        wanted = [file for file in found if self.service in {None, file.name.removesuffix(_ENDING)}]
        if not wanted:
            names = ", ".join(file.name.removesuffix(_ENDING) for file in found)
            raise UnknownNameError(f"There is no log of {self.service}; there are those of {names}")
        return wanted

    def last(self, choice: _Choice, count: int) -> list[_LogLine]:
        """Return the last lines that are chosen, of all programs together, the oldest first."""
        lines = [line for line in self.added() if choice.takes(line)]
        return lines[-count:] if count else []

    def added(self) -> list[_LogLine]:
        """Return the lines since the last call; at first, those there are. Half a line waits for its end."""
        lines = [line for file in self.files() for line in self._added_to(file)]
        return sorted(lines, key=lambda line: line.time)

    def _added_to(self, file: Path) -> Iterator[_LogLine]:
        size = file.stat().st_size
        if size < self._read.get(file, 0):  # begun anew, since it had grown too large
            self._read[file], self._half[file] = 0, b""
        start = self._read.get(file, max(0, size - _TAIL_BYTES))
        with file.open("rb") as log:
            log.seek(start)
            content = self._half.get(file, b"") + log.read()
            self._read[file] = log.tell()
        *lines, self._half[file] = content.split(b"\n")
        for text in lines:
            if text.strip():
                line = _read_line(
                    file.name.removesuffix(_ENDING),
                    text.decode("utf-8", "replace"),
                    self._times.get(file, ""),
                )
                self._times[file] = line.time
                yield line


LEVEL = click.Choice(tuple(LEVELS), case_sensitive=False)
LOOK_SECONDS = 0.25


@cluster_command("level")
@click.argument("logger", required=False)
@click.argument("level", required=False, type=LEVEL, metavar="[LEVEL]")
@click.option("--scope", type=click.Choice(("worker", "cluster")), default="worker", show_default=True,
              help="Set it on the worker that answers, or on all.")  # fmt: skip
def _set_or_show_level(session: CommandSession, logger: str | None, level: str | None, scope: str) -> None:
    """Show log levels, or set one while the cluster runs.

    A restart of the cluster forgets what was set. LOGGER is a name such as copycat_gateway, or root; those
    whose names begin with it follow. LEVEL is OFF, FATAL, ERROR, WARN, INFO, DEBUG, TRACE or ALL.

    \b
    Examples:
      copycat logs level                                   # all that were set
      copycat logs level root
      copycat logs level copycat_executor DEBUG --scope cluster
    """
    if level is not None and logger is not None:
        _set_level(session, logger, level, scope)
        return
    found = list_loggers(session.rest) if logger is None else {logger: get_logger(session.rest, logger)}
    rows = [(name, each.level) for name, each in found.items()]
    session.printer.show(found, TableBlock(("LOGGER", "LEVEL"), rows))
    example = session.command("logs level", logger or "root", "DEBUG", options=("--scope", "cluster"))
    session.next((example, "say more, everywhere"))


def _set_level(session: CommandSession, logger: str, level: str, scope: str) -> None:
    changed = set_level(session.rest, logger, level, scope)
    where = "on every worker" if scope == "cluster" else f"on this worker, for {', '.join(changed)}"
    tree = {"logger": logger, "level": level, "scope": scope, "changed": changed}
    session.printer.did(tree, f"{logger} logs {level} {where}")
    session.next((session.command("logs level", logger), "the level in force"))


@click.group(commands=[_set_or_show_level], invoke_without_command=True)
@click.option("--data-dir", type=click.Path(file_okay=False, path_type=Path),
              default=lambda: platformdirs.user_data_dir("copycat", appauthor=False),
              help="The data directory of the `copycat up` whose logs are wanted.  "
              "[default: your user data folder]")  # fmt: skip
@click.option("--service", metavar="NAME",
              help="Only those of one program: services, executor, executor-2, kafka ...")  # fmt: skip
@click.option("--connector", metavar="NAME", help="Only lines about this connector and its tasks.")
@click.option("--level", type=LEVEL, default="ALL", help="Only lines of this level and above.")
@click.option("-n", "--lines", type=click.IntRange(0), default=50, show_default=True,
              help="How many of the last lines.")  # fmt: skip
@click.option("-f", "--follow", is_flag=True, help="Go on with what is written from now on, until Ctrl-C.")
@click.option("-o", "--output", type=click.Choice([TABLE, JSON]), default=TABLE, show_default=True,
              help="Text for people, or JSON for programs, an object a line.")  # fmt: skip
@click.pass_context
def logs(  # noqa: PLR0917  # one for each option
    ctx: click.Context,
    data_dir: Path,
    service: str | None,
    connector: str | None,
    level: str,
    lines: int,
    follow: bool,
    output: str,
) -> None:
    """Show what a system of `copycat up` logs, or its levels.

    The logs of all services are shown as one, in the order of time. A service that was started otherwise, by
    copycat-worker or in a container, writes to its standard error: see what started it.

    \b
    Examples:
      copycat logs
      copycat logs --follow --level WARN
      copycat logs --connector lines -n 200
      copycat logs level root DEBUG --scope cluster        # let them say more
    """
    if ctx.invoked_subcommand is not None:
        return
    folder, choice = _LogFolder(Path(data_dir) / "logs", service), _Choice(level.upper(), connector)
    try:
        _write(folder.last(choice, lines), output)
        while follow:
            time.sleep(LOOK_SECONDS)
            _write([line for line in folder.added() if choice.takes(line)], output)
    except CliError as error:
        click.echo(f"{ctx.command_path}: {error.message}", err=True)
        ctx.exit(error.exit_code)
    except KeyboardInterrupt:
        return  # the way to end --follow


def _write(lines: list[_LogLine], form: str) -> None:
    for line in lines:
        click.echo(json.dumps(line.tree(), ensure_ascii=False) if form == JSON else line.text())
    sys.stdout.flush()
