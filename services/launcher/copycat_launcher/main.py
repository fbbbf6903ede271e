"""The commands `copycat` and `copycat-worker`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import platformdirs
from copycat_cli.sections import SECTIONS, SectionedGroup
from copycat_connect.cluster import REST_PORT
from copycat_connect.errors import CopycatError
from copycat_rpc.role import heed_interrupts

from copycat_launcher.migrate.command import migrate
from copycat_launcher.roles import ROLE_BY_NAME, ROLES

FILE = click.Path(exists=True, dir_okay=False, readable=True, path_type=Path)
STANDALONE = "standalone"
STANDALONE_STARTS = ("--offsets", "--no-offsets")


def _told(work: Callable[[], None]) -> None:
    """Do the work; an error of ours becomes one line on stderr and exit code 1."""
    heed_interrupts()
    try:
        work()
    except CopycatError as error:
        click.echo(f"copycat: {error.message}", err=True)
        sys.exit(1)


class _Copycat(SectionedGroup):
    """Also takes KIP-26's form without a verb: `copycat worker.properties connector.properties`."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if self.get_command(ctx, args[0]) is None and Path(args[0]).suffix in {".properties", ".json"}:
            args = [STANDALONE, *args]
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0].split("=")[0] in STANDALONE_STARTS:
            args = [STANDALONE, *args]
        return super().parse_args(ctx, args)


@click.group(cls=_Copycat, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="copycat-launcher", prog_name="copycat")
def copycat() -> None:
    """Move data into and out of Kafka: Kafka Connect in Python.

    \b
    Start a system, then from another terminal make a connector and watch it:
      copycat up
      copycat plugins                            what connectors there are
      copycat plugins FileStreamSource           the keys of one
      copycat plugins add ./my-connector         install one of your own
      printf '%s\\n' name=lines connector.class=FileStreamSource \\
          file=/tmp/in.txt topic=lines > lines.properties
      copycat apply lines.properties
      copycat status lines --watch
      copycat describe lines                     all about it, and why it failed
      copycat edit lines                         fix it
      copycat delete lines

    Each command explains itself: copycat COMMAND --help. Those that talk to a cluster take --url (or
    COPYCAT_URL), and -o json for scripts. A worker of a larger cluster is started by copycat-worker.
    """
    heed_interrupts()


def _settings(_: click.Context, __: click.Parameter, pairs: tuple[str, ...]) -> dict[str, str]:
    for pair in pairs:
        if "=" not in pair:
            raise click.BadParameter(f"{pair!r} is not KEY=VALUE, for example offset.flush.interval.ms=1000")
    return {key.strip(): value for key, _, value in (pair.partition("=") for pair in pairs)}


@click.command()
@click.option("--rest-port", type=click.IntRange(0, 65535), default=REST_PORT, show_default=True,
              help="Port of the REST interface on 127.0.0.1; 0 picks a free one.")  # fmt: skip
@click.option("--data-dir", type=click.Path(file_okay=False, path_type=Path),
              default=lambda: platformdirs.user_data_dir("copycat", appauthor=False),
              help="Folder of Kafka's data, the properties and the logs; kept from run to run.  "
              "[default: your user data folder]")  # fmt: skip
@click.option("--executors", type=click.IntRange(1, 64), default=1, show_default=True,
              help="How many executors share the connectors and tasks.")  # fmt: skip
@click.option("--bootstrap-servers", default="", metavar="HOST:PORT",
              help="Use this Kafka instead of starting one.")  # fmt: skip
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", callback=_settings,
              help="A worker property, as in Kafka Connect; may be given again.")  # fmt: skip
def up(**options: Any) -> None:  # noqa: ANN401 - click's own types, one per option above
    """Start a whole system: Kafka, every service, the REST interface.

    It runs in the foreground until Ctrl-C (or SIGTERM), then drains: tasks flush, commit and stop. A second
    start on the same data directory goes on where the first stopped.

    \b
    Examples:
      copycat up
      copycat up --rest-port 0 --data-dir ./data
      copycat up --bootstrap-servers localhost:9092 --executors 2
      copycat up --set offset.flush.interval.ms=1000
    """
    from copycat_launcher.up import UpOptions, run_up  # 75 ms that other commands save

    _told(lambda: run_up(UpOptions(**options)))


@click.command()
@click.option("--offsets", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="Keep source offsets in this file (default: offset.storage.file.filename).")  # fmt: skip
@click.option("--no-offsets", is_flag=True, help="Keep source offsets nowhere: every start is the first.")
@click.argument("worker", type=FILE)
@click.argument("connectors", type=FILE, nargs=-1)
def standalone(worker: Path, connectors: tuple[Path, ...], offsets: Path | None, no_offsets: bool) -> None:
    """Run connectors in one process, without a cluster.

    WORKER is a properties file as Kafka's connect-standalone.properties. Each of CONNECTORS is a .properties
    file with a name, or JSON: {"name": ..., "config": {...}, "initial_state": ...} or a flat map with a name.
    Connectors live in memory only: give them again at the next start. One that fails ends the process.

    \b
    Examples:
      copycat standalone worker.properties file-source.properties file-sink.json
      copycat worker.properties file-source.properties
      copycat standalone --no-offsets worker.properties file-source.properties
    """
    from copycat_launcher.standalone import run_standalone  # 140 ms, likewise

    if offsets is not None and no_offsets:
        raise click.UsageError("--offsets and --no-offsets exclude each other; give one")
    _told(lambda: run_standalone(worker, connectors, offsets, no_offsets=no_offsets))


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--role", type=click.Choice([*ROLE_BY_NAME, "all"]), default="all", show_default=True,
              help="Which service to run.")  # fmt: skip
@click.option(
    "--probe",
    "ask",
    is_flag=True,
    help="Start nothing: ask the running role whether it serves. Ends with 0 or, saying why not, 1.",
)
@click.argument("worker", type=FILE)
def copycat_worker(worker: Path, role: str, ask: bool) -> None:
    """Run a worker of a cluster, or one service of it, in the foreground.

    WORKER is a properties file as Kafka's connect-distributed.properties: group.id, config.storage.topic,
    offset.storage.topic, status.storage.topic, key.converter and value.converter are required. One role runs
    in this very process; `all` runs every role as a child process and starts again what ends.

    With --probe nothing is started: the role running on this machine is asked at the address WORKER gives it,
    for the health check of a container or a supervisor; `all` asks each of them.

    \b
    Examples:
      copycat-worker worker.properties
      copycat-worker worker.properties --role executor
      copycat-worker worker.properties --role executor --probe
    """
    if ask:
        from copycat_launcher.readiness import probe  # 75 ms, likewise

        _told(lambda: probe(worker, ROLES if role == "all" else (ROLE_BY_NAME[role],)))
        return
    from copycat_launcher.worker import run_worker  # 70 ms, likewise

    _told(lambda: run_worker(worker, role))


copycat.add_section("Run Copycat", (up, standalone))
for heading, commands in SECTIONS.items():
    copycat.add_section(heading, commands)
copycat.add_section("Come from Kafka Connect", (migrate,))
