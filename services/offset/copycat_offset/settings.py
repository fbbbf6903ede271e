"""What the offset service reads from the worker properties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from copycat_connect.config import LOW
from copycat_connect.config.framework_names import OFFSETS_TOPIC
from copycat_connect.config.settings import Settings, key, shared_key, taken_from
from copycat_connect.config.worker_keys import addresses_key, listen_key
from copycat_eventlog.settings import Backend, LogSettings
from copycat_eventlog.worker_properties import BACKEND, BOOTSTRAP_SERVERS, LogTopic, backend_key, security_of

FILE = "offset.storage.file.filename"
TOPIC = LogTopic(
    name="offset",
    purpose="source connector offsets",
    owner="connect-cluster-{}-offsets",
    loss="how far each source connector has read: without it they begin anew and repeat what they copied",
    irreplaceable=True,
    partitions=25,
)


def _standalone_topics(worker: Mapping[str, str]) -> LogSettings | None:
    if OffsetServiceSettings.config_def().parse(worker)[BACKEND] == Backend.KAFKA.value:
        return None
    return TOPIC.new_topic({name: value for name, value in worker.items() if name != FILE})


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
    topic: LogSettings = taken_from(lambda worker: TOPIC.read(worker, OffsetServiceSettings.config_def()))
    """The offsets topic; what stands in its place in memory has no file yet."""
    standalone_topics: LogSettings | None = taken_from(_standalone_topics)
    """What the offsets topics of connectors are created with where the worker has none; else as that."""
    client_config: Mapping[str, str] = taken_from(security_of)
    """Security properties of Kafka clients."""

    @property
    def log(self) -> LogSettings:
        """Where the service keeps its offsets: in the topic, or in memory and a file."""
        if self.topic.backend is Backend.KAFKA:
            return self.topic
        return replace(self.topic, setting=FILE, file=self.file)

    @property
    def own_topics(self) -> LogSettings:
        """What the offsets topics of connectors are created with: as the worker's, also without one."""
        # None of them was there before for all that the service's own topics say: nobody is elected for them.
        return replace(
            self.standalone_topics or self.topic,
            setting=OFFSETS_TOPIC,
            owner_id="",
            irreplaceable=False,
            loss="",
            loss_accepted=False,
        )


def read_settings(properties: Mapping[str, str]) -> OffsetServiceSettings:
    """Read the worker properties.

    Raises:
        ConfigError: One is missing or wrong; the text names it.
    """
    return OffsetServiceSettings.parse(properties)
