"""What `copycat migrate check` does: read the worker's file, read the cluster, judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from copycat_cli.errors import CliError, UsageError
from copycat_cli.rest import Rest
from copycat_connect.config.client_overrides import BOOTSTRAP_SERVERS, DEFAULT_SERVERS
from copycat_connect.errors import ConfigError
from copycat_connect.plugin.loading import load_plugins
from copycat_connect.plugin.registry import Plugins
from copycat_connect.validation import WorkerRules
from copycat_eventlog.worker_properties import security_of
from copycat_rpc.role import own_properties, read_properties

from copycat_launcher.migrate.errors import UnreadableClusterError
from copycat_launcher.migrate.found import FoundCluster
from copycat_launcher.migrate.judging import MAX_TASKS, Judgement, Surroundings, judge
from copycat_launcher.migrate.places import KINDS, Place
from copycat_launcher.migrate.reading import read_from_topics, read_over_rest
from copycat_launcher.migrate.worker import judge_worker, known_providers

GROUP = "group.id"
#: A name no cluster has: nothing is said of connectors that share the group of their workers.
NO_GROUP = "\0"


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user gave."""

    worker: Path | None
    rest: Rest | None
    servers: str | None
    login: Path | None
    """Client properties with which to log in to Kafka."""
    group: str
    topics: Mapping[str, str | None] = field(default_factory=dict)
    """`config`, `offset` and `status` to the topic named for it."""


def check_cluster(asked: Asked) -> Judgement:
    """Read the cluster and judge it.

    Raises:
        UsageError: Nothing says where the cluster is.
        UnreadableClusterError: It cannot be read.
    """
    properties = None if asked.worker is None else _read(asked.worker)
    plugins = load_plugins()
    worker = None if properties is None else judge_worker(properties, plugins)
    cluster = _cluster(asked, properties or {}, plugins)
    group = asked.group or (properties or {}).get(GROUP, "") or NO_GROUP
    here = Surroundings(plugins, WorkerRules.of({GROUP: group}))
    if properties is not None and worker is not None:
        here = replace(
            here,
            rules=worker.rules,
            providers=known_providers(properties),
            max_tasks=_max_tasks(properties),
        )
    return judge(cluster, here, None if worker is None else worker.findings)


def _cluster(asked: Asked, properties: Mapping[str, str], plugins: Plugins) -> FoundCluster:
    if asked.rest is not None:
        try:
            return read_over_rest(asked.rest)
        except CliError as error:
            raise UnreadableClusterError(error.message) from error
    return read_from_topics(_place(asked, properties), plugins)


def _place(asked: Asked, properties: Mapping[str, str]) -> Place:
    """Return where the topics are: what the command line says counts more than the worker's file."""
    if asked.servers is None and not properties:
        raise UsageError(
            "Nothing says where the cluster is: give --connect-url URL, --bootstrap-servers HOST:PORT, or the"
            " properties file of one of its workers"
        )
    client = {**security_of(_own(properties)), **({} if asked.login is None else _read(asked.login))}
    servers = asked.servers or properties.get(BOOTSTRAP_SERVERS) or DEFAULT_SERVERS
    named = {kind: asked.topics.get(kind) or properties.get(f"{kind}.storage.topic", "") for kind in KINDS}
    return Place(
        {**client, BOOTSTRAP_SERVERS: servers},
        {kind: topic for kind, topic in named.items() if topic},
        asked.group or properties.get(GROUP, ""),
    )


def _own(properties: Mapping[str, str]) -> Mapping[str, str]:
    """Return the properties without placeholders, where this machine can resolve them."""
    try:
        return own_properties(properties)
    except ConfigError:
        return properties


def _read(file: Path) -> dict[str, str]:
    try:
        return dict(read_properties(file))
    except (ConfigError, OSError, UnicodeDecodeError) as error:
        raise UnreadableClusterError(f"{file} cannot be read as a properties file: {error}") from error


def _max_tasks(properties: Mapping[str, str]) -> int:
    given = properties.get("max.tasks.per.connector", "").strip()
    return int(given) if given.isdecimal() else MAX_TASKS
