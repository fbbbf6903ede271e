"""JdbcSink: every task gets the same configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from copycat_connect.config import ConfigValue
from copycat_connect.config.delivery import Guarantee, guarantee_of_sink
from copycat_connect.data import TopicPartition
from copycat_connect.errors import ConfigError
from copycat_connect.plugin import ExactlyOnceSupport, SinkConnector

from copycat_jdbc.address import parse_address
from copycat_jdbc.database import Database
from copycat_jdbc.settings import URL
from copycat_jdbc.sink.positions import StoredPositions
from copycat_jdbc.sink.session import DatabaseSession
from copycat_jdbc.sink.settings import (
    DELETE_ENABLED,
    INSERT_MODE,
    PK_FIELDS,
    PK_MODE,
    POSITIONS_TABLE,
    TABLE_FORMAT,
    TOPIC_PLACEHOLDER,
    InsertMode,
    JdbcSinkSettings,
    PkMode,
)
from copycat_jdbc.sink.tables import TableProblem, table_name

_ANY_TOPIC = "topic"


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
        found = {value.name: value for value in JdbcSinkSettings.config_def().validate(config)}
        parsed = {name: value.value for name, value in found.items()}
        for key, text in [*_contradictions(parsed), *_wrong_names(parsed, config)]:
            found[key].errors.append(text)
        return list(found.values())

    def exactly_once_support(self, config: Mapping[str, str]) -> ExactlyOnceSupport:
        """Support it in a server; SQLite cannot shut out a task that was frozen while it wrote."""
        try:
            address = parse_address(config.get(URL) or "")
        except ConfigError:
            return ExactlyOnceSupport.UNSUPPORTED
        return ExactlyOnceSupport.SUPPORTED if address.hosts else ExactlyOnceSupport.UNSUPPORTED

    def alter_offsets(self, config: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]) -> bool:
        """Accept any offsets, and change those kept in the database; rows stay as they are."""
        if guarantee_of_sink(config) is Guarantee.EXACTLY_ONCE:
            settings = JdbcSinkSettings.parse(config)
            session = DatabaseSession(Database(settings))
            try:
                StoredPositions(session, settings).move(offsets)
            finally:
                session.close()
        return True


def _wrong_names(parsed: Mapping[str, object], config: Mapping[str, str | None]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with names of tables, tried with the topics as far as they are known."""
    try:
        address = parse_address(str(parsed[URL]))
    except ConfigError:
        return  # it has its own error
    topics = "" if config.get("transforms") else config.get("topics") or ""  # transformations rename them
    tried = [each.strip() for each in topics.split(",") if each.strip()] or [_ANY_TOPIC]
    names = [(TABLE_FORMAT, str(parsed[TABLE_FORMAT]).replace(TOPIC_PLACEHOLDER, each)) for each in tried]
    for key, name in [*names, (POSITIONS_TABLE, str(parsed[POSITIONS_TABLE]))]:
        try:
            table_name(name, address, key)
        except TableProblem as error:
            yield key, error.message


def _contradictions(parsed: Mapping[str, object]) -> list[tuple[str, str]]:
    found = []
    url, mode, deletes = parsed[URL], parsed[PK_MODE], parsed[DELETE_ENABLED]
    if isinstance(url, str):
        try:
            parse_address(url)
        except ConfigError as error:
            found.append((URL, error.message))
    if deletes is True and mode != PkMode.RECORD_KEY:
        text = (
            f"Primary key mode must be '{PkMode.RECORD_KEY}' when delete support is enabled: set "
            f"{PK_MODE}={PkMode.RECORD_KEY}, or {DELETE_ENABLED}=false"
        )
        found += [(DELETE_ENABLED, text), (PK_MODE, text)]
    if mode == PkMode.NONE and parsed[INSERT_MODE] in (InsertMode.UPSERT, InsertMode.UPDATE):
        text = f"{INSERT_MODE}={parsed[INSERT_MODE]} needs a key: set {PK_MODE}"
        found += [(INSERT_MODE, text), (PK_MODE, text)]
    fields = parsed[PK_FIELDS]
    if mode == PkMode.KAFKA and isinstance(fields, list) and len(fields) not in (0, 3):
        text = f"With {PK_MODE}=kafka name three columns, for topic, partition and offset, or none"
        found.append((PK_FIELDS, text))
    return found
