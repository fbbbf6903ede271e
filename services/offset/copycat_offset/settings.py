"""What the offset service reads from the worker properties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from copycat_connect.config import LOW, STRING, ConfigDef, ConfigKey
from copycat_connect.config.framework_names import OFFSETS_TOPIC
from copycat_connect.config.worker_keys import addresses_key, listen_key
from copycat_eventlog.settings import Backend, LogSettings
from copycat_eventlog.worker_properties import BOOTSTRAP_SERVERS, LogTopic, backend_key, security_of

FILE = "offset.storage.file.filename"
LISTEN = listen_key("offset")
SCHEDULER = addresses_key("scheduler")
EVERYWHERE = ConfigDef(
    LISTEN,
    SCHEDULER,
    BOOTSTRAP_SERVERS,
    backend_key("source offsets"),
    ConfigKey(
        FILE,
        STRING,
        LOW,
        default=None,
        doc="File of a standalone worker's source offsets; without it they are gone when the worker ends.",
    ),
)
TOPIC = LogTopic(
    name="offset",
    purpose="source connector offsets",
    owner="connect-cluster-{}-offsets",
    loss="how far each source connector has read: without it they begin anew and repeat what they copied",
    irreplaceable=True,
    partitions=25,
)


@dataclass(frozen=True, slots=True)
class OffsetServiceSettings:
    """The service's own settings."""

    listen: str
    """host:port to bind."""
    scheduler_addresses: tuple[str, ...]
    """Where the scheduler is found."""
    bootstrap_servers: str
    """Kafka's brokers, for the groups of sinks."""
    client_config: Mapping[str, str]
    """Security properties of Kafka clients."""
    log: LogSettings
    """The offsets topic."""
    own_topics: LogSettings
    """What the offsets topics of connectors are created with: as the worker's, also without one."""


def read_settings(properties: Mapping[str, str]) -> OffsetServiceSettings:
    """Read the worker properties.

    Raises:
        ConfigError: One is missing or wrong; the text names it.
    """
    found = EVERYWHERE.parse(properties)
    log = like = TOPIC.read(properties, EVERYWHERE)
    if log.backend is Backend.MEMORY:
        like = TOPIC.new_topic({key: value for key, value in properties.items() if key != FILE})
        log = replace(log, setting=FILE, file=found[FILE])
    return OffsetServiceSettings(
        listen=found[LISTEN.name],
        scheduler_addresses=tuple(found[SCHEDULER.name]),
        bootstrap_servers=found[BOOTSTRAP_SERVERS.name],
        client_config=security_of(properties),
        log=log,
        # None of them was there before for all that the service's own topics say: nobody is elected for them.
        own_topics=replace(
            like, setting=OFFSETS_TOPIC, owner_id="", irreplaceable=False, loss="", loss_accepted=False
        ),
    )
