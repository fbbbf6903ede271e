"""`copycat migrate check`: what of a cluster of Kafka Connect would run here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click
from copycat_cli.command import PEM, local_command
from copycat_cli.credentials import credentials, tls_context, user_option
from copycat_cli.errors import ExitCode
from copycat_cli.output.printer import Printer

from copycat_launcher.migrate.findings import MigrationVerdict

if TYPE_CHECKING:
    from copycat_cli.rest import Rest

FILE = click.Path(exists=True, dir_okay=False, readable=True, path_type=Path)


class _OverRest(TypedDict):
    connect_url: str | None
    ca: Path | None
    cert: Path | None
    user: str | None


class _Given(_OverRest):
    bootstrap_servers: str | None
    command_config: Path | None
    group_id: str
    config_topic: str | None
    offset_topic: str | None
    status_topic: str | None


@local_command("check")
@click.argument("worker", type=FILE, required=False)
@click.option("--connect-url", metavar="URL", help="Read the cluster over REST, of any of its workers.")
@click.option("--ca", type=PEM, metavar="FILE", help="With https: trust these certificates (PEM), no others.")
@click.option("--cert", type=PEM, metavar="FILE",
              help="With https: show this certificate; the file has its key too (PEM).")  # fmt: skip
@click.option("--bootstrap-servers", metavar="HOST:PORT", help="Read the cluster's topics, from this Kafka.")
@click.option("--command-config", type=FILE, metavar="FILE",
              help="How to log in to Kafka: a properties file as Kafka's own tools take it.")  # fmt: skip
@click.option("--group-id", default="", help="group.id of the workers: their topics are named after it.")
@click.option("--config-topic", help="config.storage.topic of the workers.")
@click.option("--offset-topic", help="offset.storage.topic of the workers.")
@click.option("--status-topic", help="status.storage.topic of the workers.")
def check(printer: Printer, worker: Path | None, **given: Unpack[_Given]) -> None:
    """Say what of a Kafka Connect cluster runs here.

    The cluster is read over REST (--connect-url) or from its topics (--bootstrap-servers, or WORKER, the
    properties file of one of its workers). Its workers may run or not, and nothing of it is changed. With
    WORKER the worker's own keys are judged too. No password of a configuration is shown.

    Each connector runs as it is, differs (with the fix), would be refused, or misses something: its class, a
    converter, a transformation, a predicate, a config provider. Configurations are validated by the plugins
    that are installed here, as a cluster of Copycat validates them.

    Exit codes here: 0 all run as they are; 1 something differs, is refused or missing; 2 the cluster cannot
    be read.

    \b
    Examples:
      copycat migrate check --connect-url http://connect:8083
      copycat migrate check worker.properties
      copycat migrate check --bootstrap-servers kafka:9092 --group-id connect-cluster
      copycat migrate check --connect-url http://connect:8083 worker.properties -o json
    """
    from copycat_launcher.migrate import checking  # a second that other commands save

    judgement = checking.check_cluster(
        checking.Asked(
            worker,
            None if given["connect_url"] is None else _rest(given["connect_url"], given),
            given["bootstrap_servers"],
            given["command_config"],
            given["group_id"],
            {
                "config": given["config_topic"],
                "offset": given["offset_topic"],
                "status": given["status_topic"],
            },
        )
    )
    printer.show(checking.tree(judgement), *checking.blocks(judgement))
    if judgement.verdict is not MigrationVerdict.RUNS:
        click.get_current_context().exit(ExitCode.NO)


def _rest(url: str, given: _OverRest) -> Rest:
    from copycat_cli.rest import Rest  # noqa: PLC0415 - 65 ms, likewise

    return Rest(url, tls=tls_context(given["ca"], given["cert"]), user=credentials(given["user"]))


check.params.append(user_option())


@click.group("migrate", commands=[check])
def migrate() -> None:
    """Move from Kafka Connect to Copycat.

    \b
    Examples:
      copycat migrate check --connect-url http://connect:8083
    """
