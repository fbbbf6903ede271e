"""What `copycat migrate check` does: read the worker's file and the cluster, judge, show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from copycat_cli.errors import CliError, UsageError
from copycat_cli.output.blocks import Block, TableBlock, TextBlock
from copycat_cli.rest import Rest
from copycat_connect.config.client_overrides import BOOTSTRAP_SERVERS, DEFAULT_SERVERS
from copycat_connect.config.framework_names import CONNECTOR_CLASS
from copycat_connect.errors import ConfigError
from copycat_connect.plugin.loading import load_plugins
from copycat_connect.plugin.registry import Plugins
from copycat_connect.validation import WorkerRules
from copycat_eventlog.worker_properties import security_of
from copycat_rpc.role import own_properties, read_properties

from copycat_launcher.migrate.findings import Finding, FoundCluster, MigrationVerdict, worst
from copycat_launcher.migrate.judging import MAX_TASKS, JudgedConnector, Judgement, Surroundings, judge
from copycat_launcher.migrate.reading import (
    KINDS,
    SourceCluster,
    UnreadableClusterError,
    read_from_topics,
    read_over_rest,
)
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


def _place(asked: Asked, properties: Mapping[str, str]) -> SourceCluster:
    """Return where the topics are: what the command line says counts more than the worker's file."""
    if asked.servers is None and not properties:
        raise UsageError(
            "Nothing says where the cluster is: give --connect-url URL, --bootstrap-servers HOST:PORT, or the"
            " properties file of one of its workers"
        )
    client = {**security_of(_own(properties)), **({} if asked.login is None else _read(asked.login))}
    servers = asked.servers or properties.get(BOOTSTRAP_SERVERS) or DEFAULT_SERVERS
    named = {kind: asked.topics.get(kind) or properties.get(f"{kind}.storage.topic", "") for kind in KINDS}
    return SourceCluster(
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


_SUMS = {
    MigrationVerdict.RUNS: "run as they are",
    MigrationVerdict.DIFFERS: "run with differences",
    MigrationVerdict.REFUSED: "would be refused",
    MigrationVerdict.MISSING: "need something that is not here",
}
_TO_KNOW = "to know"


def tree(judgement: Judgement) -> dict[str, object]:
    """Return the judgement for programs."""
    worker = judgement.worker
    counts = _counts(judgement)
    return {
        "source": judgement.cluster.source,
        "verdict": judgement.verdict.word,
        "counts": {verdict.word: counts[verdict] for verdict in MigrationVerdict},
        "connectors": [_connector(each) for each in judgement.connectors],
        "worker": None
        if worker is None
        else {"verdict": worst(each.verdict for each in worker).word, "findings": _findings(worker)},
        "notes": list(judgement.cluster.notes),
    }


def blocks(judgement: Judgement) -> list[Block]:
    """Return the judgement for people."""
    rows = [_row(each) for each in judgement.connectors]
    columns = ("CONNECTOR", "CLASS", "VERDICT", "STATE", "TASKS", "OFFSETS")
    found = [(each.connector.name, finding) for each in judgement.connectors for finding in each.findings]
    shown: list[Block] = [
        TextBlock([judgement.cluster.source, *judgement.cluster.notes]),
        TableBlock(columns, rows, "Connectors", "There are no connectors."),
    ]
    if found:
        shown.append(
            TableBlock(
                ("CONNECTOR", "WHAT", "KEY", "WHY", "FIX"),
                [(name, *_cells(finding)) for name, finding in found],
                "What differs or is missing",
            )
        )
    if judgement.worker:
        shown.append(
            TableBlock(("WHAT", "KEY", "WHY", "FIX"), [*map(_cells, judgement.worker)], "The worker's file")
        )
    counts = _counts(judgement)
    sums = [f"{counts[verdict]} {text}" for verdict, text in _SUMS.items() if counts[verdict]]
    shown.append(TextBlock([", ".join(sums) or "nothing to move"], "In all"))
    return shown


def _counts(judgement: Judgement) -> Counter[MigrationVerdict]:
    return Counter(each.verdict for each in judgement.connectors)


def _connector(each: JudgedConnector) -> dict[str, object]:
    return {
        "name": each.connector.name,
        "class": each.connector.config.get(CONNECTOR_CLASS) or "",
        "type": "unknown" if each.spec is None else each.spec.kind.value,
        "verdict": each.verdict.word,
        "state": each.connector.state,
        "tasks": list(each.connector.task_states),
        "offsets": {"partitions": each.connector.positions.count, "text": each.offsets},
        "findings": _findings(each.findings),
    }


def _findings(findings: Iterable[Finding]) -> list[dict[str, str]]:
    return [{"what": _what(each), "key": each.key, "text": each.text, "fix": each.fix} for each in findings]


def _row(each: JudgedConnector) -> tuple[str, ...]:
    states = Counter(each.connector.task_states)
    return (
        each.connector.name,
        (each.connector.config.get(CONNECTOR_CLASS) or "").rpartition(".")[2],
        each.verdict.word,
        each.connector.state,
        ", ".join(f"{count} {state}" for state, count in states.items()),
        each.offsets,
    )


def _cells(finding: Finding) -> tuple[str, ...]:
    return (_what(finding), finding.key, finding.text, finding.fix)


def _what(finding: Finding) -> str:
    return _TO_KNOW if finding.verdict is MigrationVerdict.RUNS else finding.verdict.word
