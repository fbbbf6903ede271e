"""Reads a cluster without a change to it: its three internal topics, as a worker would, or over REST."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from textwrap import shorten
from types import TracebackType
from typing import Generic, Self, TypeVar

from copycat_cli.api.offsets import get_offsets
from copycat_cli.api.statuses import UNKNOWN, overview
from copycat_cli.errors import CliError, ExitCode, UnknownNameError
from copycat_cli.rest import Rest
from copycat_config.adapters.codec import ConfigCodec
from copycat_config.domain.events import ConfigEvent
from copycat_config.domain.evolve import evolve as evolve_config
from copycat_config.domain.state import ConfigState
from copycat_config.domain.views import ConnectorView, list_connectors
from copycat_connect.cluster import Config, sink_group
from copycat_connect.config.client_overrides import (
    BOOTSTRAP_SERVERS,
    PRODUCER_OVERRIDE,
    group_client,
    overrides_of,
)
from copycat_connect.config.framework_names import CONNECTOR_CLASS, OFFSETS_TOPIC, TOPICS, TOPICS_REGEX
from copycat_connect.config.placeholders import has_placeholder
from copycat_connect.errors import CopycatError, ErrorCode
from copycat_connect.plugin.registry import Plugins
from copycat_connect.plugin.spec import CONNECTORS, PluginKind
from copycat_eventlog.brokers import Brokers
from copycat_eventlog.clients import librdkafka_config, read_security
from copycat_eventlog.log import Codec, Entry
from copycat_eventlog.past.scan import TopicScan
from copycat_eventlog.unreadable import LogRecordReader
from copycat_offset.adapters.codec import OffsetCodec
from copycat_offset.adapters.groups import KafkaGroups
from copycat_offset.domain.events import OffsetEvent
from copycat_offset.domain.evolve import evolve
from copycat_offset.domain.state import NO_PARTITIONS, OffsetState
from copycat_rest.answers import ConnectorInfo, ConnectorStateInfo
from copycat_status.adapters.codec import StatusCodec
from copycat_status.domain.events import StatusEvent
from copycat_status.domain.evolve import evolve as evolve_statuses
from copycat_status.domain.state import StatusFacts, StatusState

from copycat_launcher.migrate.findings import FoundCluster, FoundConnector, FoundPositions


class UnreadableClusterError(CliError):
    """The other cluster, or the file of its worker, cannot be read; the text names what to give instead."""

    code = ErrorCode("migrate.unreadable", grpc="UNAVAILABLE", http=503)
    exit_code = ExitCode.USAGE


KINDS = ("config", "offset", "status")
_SUFFIXES = {"config": "configs", "offset": "offsets", "status": "status"}


@dataclass(frozen=True, slots=True)
class SourceCluster:
    """A cluster in Kafka."""

    client: Mapping[str, str] = field(repr=False)
    """Properties of a Java client: `bootstrap.servers` and how to log in."""
    topics: Mapping[str, str]
    """`config`, `offset` and `status` to the topic that the user named; absent where none was."""
    group: str = ""
    """`group.id` of the workers; empty where nobody said."""

    @property
    def servers(self) -> str:
        """The brokers."""
        return self.client["bootstrap.servers"]


def _settle(place: SourceCluster, exists: Callable[[str], bool]) -> dict[str, str]:
    """Return the three topics: as named, else `<group.id>-configs` and so on, else `connect-configs`.

    Args:
        place: What the user said.
        exists: Tells whether the brokers know a topic.

    Raises:
        UnreadableClusterError: There is no topic of configurations under any of these names.
    """
    found = {}
    for kind in KINDS:
        named = place.topics.get(kind)
        usual = [f"{group}-{_SUFFIXES[kind]}" for group in dict.fromkeys((place.group, "connect")) if group]
        tried = [named] if named else usual
        found[kind] = next((topic for topic in tried if exists(topic)), "")
        if kind == "config" and not found[kind]:
            raise UnreadableClusterError(
                f"Kafka at {place.servers} has no topic {' or '.join(tried)} with connectors' configurations:"
                " name it with --config-topic (the worker's config.storage.topic)"
            )
    return found


E = TypeVar("E")
S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class _Folded(Generic[S]):
    """What a topic says."""

    state: S
    unreadable: int
    """Records that neither Kafka Connect nor Copycat reads."""


@dataclass(frozen=True, slots=True)
class _TopicFold(Generic[E, S]):
    """How a topic is read: what `EventSourced` does for a service, once and without writing."""

    codec: Codec[E]
    evolve: Callable[[S, E], S]
    initial: S

    def read(self, connection: Mapping[str, str | int | bool], topic: str) -> _Folded[S]:
        """Read a topic to where it ends now; blocks.

        Args:
            connection: The connection part of a librdkafka configuration.
            topic: Its name; an empty one holds nothing.

        Raises:
            UnavailableError: It was not read in time.
        """
        state, reader = self.initial, LogRecordReader(self.codec, topic)

        def meet(entry: Entry, _time_ms: int) -> None:
            nonlocal state
            _, state = reader.step(self.evolve, state, entry)

        if topic:
            asyncio.run(TopicScan(connection, topic).run(meet))
        return _Folded(state, reader.unreadable.records)


_OFFSETS: _TopicFold[OffsetEvent, OffsetState] = _TopicFold(OffsetCodec(), evolve, OffsetState())
_ELSEWHERE = "they are on another cluster of Kafka, whose address or login is in a placeholder"
_OWN_ELSEWHERE = "its offsets.storage.topic is on another cluster of Kafka"


class _PositionsReader:
    """Counts the partitions that have a position, connector by connector."""

    def __init__(
        self,
        place: SourceCluster,
        connection: Mapping[str, str | int | bool],
        plugins: Plugins,
        offsets: OffsetState,
    ) -> None:
        """Nothing is asked yet; `offsets` is what the workers' offsets topic says."""
        self._place = place
        self._connection = connection
        self._plugins = plugins
        self._offsets = offsets
        self._own_topics: dict[str, OffsetState] = {}
        self._loop = asyncio.Runner()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.close()

    def of(self, name: str, config: Config) -> FoundPositions:
        """Return how far a connector has come; one whose class is not here is a sink if it names topics."""
        spec = self._plugins.get((config.get(CONNECTOR_CLASS) or "").strip(), CONNECTORS)
        if spec is not None and spec.kind is PluginKind.SOURCE:
            return self._source(name, config)
        if spec is None and not (config.get(TOPICS) or config.get(TOPICS_REGEX)):
            return self._source(name, config)
        return self._sink(name, config)

    def _source(self, name: str, config: Config) -> FoundPositions:
        partitions = set(self._offsets.connectors.get(name, NO_PARTITIONS))
        own = (config.get(OFFSETS_TOPIC) or "").strip()
        if own:
            if config.get(PRODUCER_OVERRIDE + BOOTSTRAP_SERVERS):
                return FoundPositions(None, _OWN_ELSEWHERE)
            partitions |= set(self._own(own).connectors.get(name, NO_PARTITIONS))
        return FoundPositions(len(partitions))

    def _own(self, topic: str) -> OffsetState:
        if topic not in self._own_topics:
            self._own_topics[topic] = _OFFSETS.read(self._connection, topic).state
        return self._own_topics[topic]

    def _sink(self, name: str, config: Config) -> FoundPositions:
        overrides = overrides_of(config)
        client = group_client(self._place.client, overrides) or dict(self._place.client)
        group = sink_group(name, config)
        if any(map(has_placeholder, (*client.values(), group))):
            return FoundPositions(None, _ELSEWHERE)
        try:
            return FoundPositions(self._loop.run(_committed(client, group)))
        except CopycatError as error:
            return FoundPositions(None, error.message)


async def _committed(client: Mapping[str, str], group: str) -> int:
    groups = KafkaGroups(client[BOOTSTRAP_SERVERS], client)
    try:
        return len(await groups.positions(group))
    finally:
        await groups.aclose()


REACHED_SECONDS = 20.0
CONFIGS: _TopicFold[ConfigEvent, ConfigState] = _TopicFold(ConfigCodec(), evolve_config, ConfigState())
STATUSES: _TopicFold[StatusEvent, StatusState] = _TopicFold(StatusCodec(), evolve_statuses, StatusState())


def read_from_topics(place: SourceCluster, plugins: Plugins) -> FoundCluster:
    """Return what the topics say.

    Args:
        place: Where the topics are.
        plugins: Tells sources from sinks: their positions are kept in different places.

    Raises:
        UnreadableClusterError: The brokers do not answer, or the topic of configurations is not there.
    """
    try:
        return _read(place, plugins)
    except UnreadableClusterError:
        raise
    except CopycatError as error:
        raise UnreadableClusterError(error.message) from error


def _read(place: SourceCluster, plugins: Plugins) -> FoundCluster:
    connection = librdkafka_config(place.servers, read_security(place.client))
    brokers = Brokers(connection, REACHED_SECONDS)
    topics = _settle(place, lambda topic: brokers.topic(topic) is not None)
    configs = CONFIGS.read(connection, topics["config"])
    offsets = _OFFSETS.read(connection, topics["offset"])
    statuses = STATUSES.read(connection, topics["status"])
    unreadable = {"config": configs.unreadable, "offset": offsets.unreadable, "status": statuses.unreadable}
    with _PositionsReader(place, connection, plugins, offsets.state) as positions:
        found = [
            _connector(view, statuses.state.facts(view.name), positions.of(view.name, view.config))
            for view in list_connectors(configs.state)
        ]
    named = ", ".join(topic for topic in topics.values() if topic)
    notes = [_missing(kind) for kind, topic in topics.items() if not topic]
    notes += [_broken(topics[kind], count) for kind, count in unreadable.items() if count]
    return FoundCluster(f"topics {named} on {place.servers}", tuple(found), tuple(notes))


def _connector(view: ConnectorView, facts: StatusFacts, positions: FoundPositions) -> FoundConnector:
    state = "" if facts.status is None else facts.status.state.value
    tasks = tuple(facts.tasks[index].state.value for index in sorted(facts.tasks))
    return FoundConnector(view.name, view.config, state, tasks, positions)


def _missing(kind: str) -> str:
    what = {"offset": "source offsets", "status": "statuses"}[kind]
    return f"No topic of {what} was found: name it with --{kind}-topic; until then nothing is known of them"


def _broken(topic: str, count: int) -> str:
    return f"{count} record(s) of topic {topic} are not Kafka Connect's: it ignores them, and so does Copycat"


_NO_OFFSETS_HERE = "its Kafka Connect is older than 3.6, whose REST interface does not show offsets"

_MOST_CHARACTERS = 200


def read_over_rest(rest: Rest) -> FoundCluster:
    """Return what the workers say.

    Raises:
        CliError: They do not answer, or not as Kafka Connect does.
    """
    found = [_connector_over_rest(rest, status, info) for status, info in overview(rest)]
    return FoundCluster(f"REST interface {rest.shown_url}", tuple(found))


def _connector_over_rest(rest: Rest, status: ConnectorStateInfo, info: ConnectorInfo) -> FoundConnector:
    state = status.connector.state
    return FoundConnector(
        status.name,
        info.config,
        "" if state == UNKNOWN else state,
        tuple(task.state for task in status.tasks),
        _positions_over_rest(rest, status.name),
    )


def _positions_over_rest(rest: Rest, name: str) -> FoundPositions:
    try:
        return FoundPositions(len(get_offsets(rest, name).offsets))
    except UnknownNameError:
        return FoundPositions(None, _NO_OFFSETS_HERE)
    except CliError as error:  # one connector whose offsets cannot be read says nothing about the others
        return FoundPositions(None, shorten(error.message, _MOST_CHARACTERS, placeholder=" ..."))
