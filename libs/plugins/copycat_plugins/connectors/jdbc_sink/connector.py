"""JdbcSink: every task gets the same configuration."""

from __future__ import annotations

from collections.abc import Mapping

from copycat_connect.config import ConfigValue
from copycat_connect.config.delivery import Guarantee, guarantee_of_sink
from copycat_connect.data import TopicPartition
from copycat_connect.errors import ConfigError
from copycat_connect.plugin import ExactlyOnceSupport, SinkConnector

from copycat_plugins.connectors.jdbc.address import parse_address
from copycat_plugins.connectors.jdbc_sink import spec
from copycat_plugins.connectors.jdbc_sink.positions import Positions
from copycat_plugins.connectors.jdbc_sink.session import Session
from copycat_plugins.connectors.jdbc_sink.settings import Settings, database_of


class JdbcSinkConnector(SinkConnector):
    """Divides nothing: the engine gives each task partitions."""

    def __init__(self) -> None:
        self._config: dict[str, str] = {}

    def start(self, config: Mapping[str, str]) -> None:
        """Check the configuration and keep it; the database is not asked."""
        for found in self.validate(config):
            if found.errors:
                raise ConfigError(found.errors[0], key=found.name)
        self._config = dict(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Return the connector's own configuration for every task."""
        return [dict(self._config) for _ in range(max_tasks)]

    def stop(self) -> None:
        """Do nothing: the connector itself holds no resources."""

    def validate(self, config: Mapping[str, str | None]) -> list[ConfigValue]:
        """Check single keys, and which of them go together; the database is not asked."""
        found = {value.name: value for value in spec.CONFIG.validate(config)}
        for key, text in _contradictions({name: value.value for name, value in found.items()}):
            found[key].errors.append(text)
        return list(found.values())

    def exactly_once_support(self, config: Mapping[str, str]) -> ExactlyOnceSupport:
        """Support it in a server; SQLite cannot shut out a task that was frozen while it wrote."""
        try:
            address = parse_address(config.get(spec.URL) or "")
        except ConfigError:
            return ExactlyOnceSupport.UNSUPPORTED
        return ExactlyOnceSupport.SUPPORTED if address.hosts else ExactlyOnceSupport.UNSUPPORTED

    def alter_offsets(self, config: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]) -> bool:
        """Accept any offsets, and change those kept in the database; rows stay as they are."""
        if guarantee_of_sink(config) is Guarantee.EXACTLY_ONCE:
            session = Session(database_of(config))
            try:
                Positions(session, Settings.of(config)).move(offsets)
            finally:
                session.close()
        return True


def _contradictions(parsed: Mapping[str, object]) -> list[tuple[str, str]]:
    found = []
    url, mode, deletes = parsed[spec.URL], parsed[spec.PK_MODE], parsed[spec.DELETE_ENABLED]
    if isinstance(url, str):
        try:
            parse_address(url)
        except ConfigError as error:
            found.append((spec.URL, error.message))
    if deletes is True and mode != spec.RECORD_KEY:
        text = (
            f"Primary key mode must be '{spec.RECORD_KEY}' when delete support is enabled: set "
            f"{spec.PK_MODE}={spec.RECORD_KEY}, or {spec.DELETE_ENABLED}=false"
        )
        found += [(spec.DELETE_ENABLED, text), (spec.PK_MODE, text)]
    if mode == spec.NONE and parsed[spec.INSERT_MODE] in (spec.UPSERT, spec.UPDATE):
        text = f"{spec.INSERT_MODE}={parsed[spec.INSERT_MODE]} needs a key: set {spec.PK_MODE}"
        found += [(spec.INSERT_MODE, text), (spec.PK_MODE, text)]
    fields = parsed[spec.PK_FIELDS]
    if mode == spec.KAFKA and isinstance(fields, list) and len(fields) not in (0, 3):
        text = f"With {spec.PK_MODE}=kafka name three columns, for topic, partition and offset, or none"
        found.append((spec.PK_FIELDS, text))
    return found
