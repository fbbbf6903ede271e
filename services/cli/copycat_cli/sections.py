"""The commands by what people want, and a group that lists them so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from copycat_cli.advice import similar
from copycat_cli.commands.completion import completion
from copycat_cli.commands.history import history, rollback
from copycat_cli.commands.lifecycle import delete, pause, restart, resume, stop
from copycat_cli.commands.logs import logs
from copycat_cli.commands.offsets import offsets
from copycat_cli.commands.plugins import plugins
from copycat_cli.commands.status import describe, list_connectors, status
from copycat_cli.commands.submitting import apply_files, create_connectors, diff, edit, validate
from copycat_cli.commands.topics import topics
from copycat_cli.commands.workers import workers
from copycat_cli.errors import EXPLAINED

SECTIONS: Mapping[str, Sequence[click.Command]] = {
    "Look at connectors": (list_connectors, status, describe, history),
    "Create, change and delete them": (
        *(create_connectors, apply_files, edit, diff, validate, rollback, delete),
    ),
    "Control them": (pause, resume, stop, restart, offsets, topics),
    "Know the cluster": (plugins, workers, logs),
    "In your shell": (completion,),
}


class SectionedGroup(click.Group):
    """A group whose help lists its commands under headings, and the exit codes."""

    def __init__(self, name: str | None = None, **attributes: object) -> None:
        super().__init__(name, **attributes)  # type: ignore[arg-type] # click checks them
        self._sections: dict[str, list[str]] = {}

    def add_section(self, heading: str, commands: Sequence[click.Command]) -> None:
        """Add commands under a heading."""
        for command in commands:
            self.add_command(command)
        self._sections[heading] = [command.name or "" for command in commands]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; of one that does not exist, name those like it."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            if close := similar(args[0], self.commands):
                error.message = f"{error.message} Did you mean {' or '.join(close)}?"
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, section by section."""
        limit = formatter.width - 6 - max(len(name) for name in self.commands)
        for heading, names in self._sections.items():
            with formatter.section(heading):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(limit)) for name in names])
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code.value), text) for code, text in EXPLAINED.items()])
