"""Reads a cluster without a change to it: its three internal topics, as a worker would, or over REST."""

from __future__ import annotations

from textwrap import shorten

from copycat_cli.api.offsets import get_offsets
from copycat_cli.api.statuses import UNKNOWN, Expanded, overview
from copycat_cli.errors import CliError, NotFoundError
from copycat_cli.rest import Rest
from copycat_config.adapters.codec import ConfigCodec
from copycat_config.domain.events import ConfigEvent
from copycat_config.domain.evolve import evolve as evolve_config
from copycat_config.domain.state import ConfigState
from copycat_config.domain.views import ConnectorView, list_connectors
from copycat_connect.errors import CopycatError
from copycat_connect.plugin.registry import Plugins
from copycat_eventlog.brokers import Brokers
from copycat_eventlog.clients import librdkafka_config, read_security
from copycat_status.adapters.codec import StatusCodec
from copycat_status.domain.events import StatusEvent
from copycat_status.domain.evolve import evolve as evolve_statuses
from copycat_status.domain.state import ConnectorFacts, StatusState

from copycat_launcher.migrate.errors import UnreadableClusterError
from copycat_launcher.migrate.folding import TopicFold
from copycat_launcher.migrate.found import FoundCluster, FoundConnector, Positions
from copycat_launcher.migrate.places import Place, settle
from copycat_launcher.migrate.positions import OFFSETS, PositionsReader

REACHED_SECONDS = 20.0
CONFIGS: TopicFold[ConfigEvent, ConfigState] = TopicFold(ConfigCodec(), evolve_config, ConfigState())
STATUSES: TopicFold[StatusEvent, StatusState] = TopicFold(StatusCodec(), evolve_statuses, StatusState())


def read_from_topics(place: Place, plugins: Plugins) -> FoundCluster:
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


def _read(place: Place, plugins: Plugins) -> FoundCluster:
    connection = librdkafka_config(place.servers, read_security(place.client))
    brokers = Brokers(connection, REACHED_SECONDS)
    topics = settle(place, lambda topic: brokers.topic(topic) is not None)
    configs = CONFIGS.read(connection, topics["config"])
    offsets = OFFSETS.read(connection, topics["offset"])
    statuses = STATUSES.read(connection, topics["status"])
    unreadable = {"config": configs.unreadable, "offset": offsets.unreadable, "status": statuses.unreadable}
    with PositionsReader(place, connection, plugins, offsets.state) as positions:
        found = [
            _connector(view, statuses.state.facts(view.name), positions.of(view.name, view.config))
            for view in list_connectors(configs.state)
        ]
    named = ", ".join(topic for topic in topics.values() if topic)
    notes = [_missing(kind) for kind, topic in topics.items() if not topic]
    notes += [_broken(topics[kind], count) for kind, count in unreadable.items() if count]
    return FoundCluster(f"topics {named} on {place.servers}", tuple(found), tuple(notes))


def _connector(view: ConnectorView, facts: ConnectorFacts, positions: Positions) -> FoundConnector:
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
    found = [_connector_over_rest(rest, each) for each in overview(rest)]
    return FoundCluster(f"REST interface {rest.shown_url}", tuple(found))


def _connector_over_rest(rest: Rest, each: Expanded) -> FoundConnector:
    state = each.status.connector.state
    return FoundConnector(
        each.status.name,
        each.info.config,
        "" if state == UNKNOWN else state,
        tuple(task.state for task in each.status.tasks),
        _positions_over_rest(rest, each.status.name),
    )


def _positions_over_rest(rest: Rest, name: str) -> Positions:
    try:
        return Positions(len(get_offsets(rest, name).offsets))
    except NotFoundError:
        return Positions(None, _NO_OFFSETS_HERE)
    except CliError as error:  # one connector whose offsets cannot be read says nothing about the others
        return Positions(None, shorten(error.message, _MOST_CHARACTERS, placeholder=" ..."))
