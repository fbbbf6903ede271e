"""What the offset service reads from the worker properties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from copycat_connect.config import LOW
from copycat_connect.config.framework_names import OFFSETS_TOPIC
from copycat_connect.config.settings import Settings, key, shared_key, taken_from
from copycat_connect.config.worker_keys import addresses_key, listen_key
from copycat_eventlog.settings import Backend, LogSettings
from copycat_eventlog.worker_properties import BOOTSTRAP_SERVERS, LogTopic, backend_key, security_of

FILE = "offset.storage.file.filename"
TOPIC = LogTopic(
    name="offset",
    purpose="source connector offsets",
    owner="connect-cluster-{}-offsets",
    loss="how far each source connector has read: without it they begin anew and repeat what they copied",
    irreplaceable=True,
    partitions=25,
)


def _log(worker: Mapping[str, str]) -> LogSettings:
    log = TOPIC.read(worker, OffsetServiceSettings.config_def())
    return replace(log, setting=FILE, file=worker.get(FILE)) if log.backend is Backend.MEMORY else log


def _own_topics(worker: Mapping[str, str]) -> LogSettings:
    like = TOPIC.read(worker, OffsetServiceSettings.config_def())
    if like.backend is Backend.MEMORY:
        like = TOPIC.new_topic({name: value for name, value in worker.items() if name != FILE})
    # None of them was there before for all that the service's own topics say: nobody is elected for them.
    return replace(
        like, setting=OFFSETS_TOPIC, owner_id="", irreplaceable=False, loss="", loss_accepted=False
    )


class OffsetServiceSettings(Settings):
    """The service's own settings."""

    listen: str = shared_key(listen_key("offset"))
    scheduler_addresses: tuple[str, ...] = shared_key(addresses_key("scheduler"), read=tuple)
    bootstrap_servers: str = shared_key(BOOTSTRAP_SERVERS)
    """Whom it asks for the groups of sinks."""
    backend: Backend = shared_key(backend_key("source offsets"), read=Backend)
    file: str | None = key(
        LOW,
        name=FILE,
        default=None,
        doc="File of a standalone worker's source offsets; without it they are gone when the worker ends.",
    )
    log: LogSettings = taken_from(_log)
    """The offsets topic."""
    own_topics: LogSettings = taken_from(_own_topics)
    """What the offsets topics of connectors are created with: as the worker's, also without one."""
    client_config: Mapping[str, str] = taken_from(security_of)
    """Security properties of Kafka clients."""


def read_settings(properties: Mapping[str, str]) -> OffsetServiceSettings:
    """Read the worker properties.

    Raises:
        ConfigError: One is missing or wrong; the text names it.
    """
    return OffsetServiceSettings.parse(properties)
