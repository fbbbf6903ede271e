"""A database: connections to it, its clock, and what it says of its tables."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

import sqlalchemy
from copycat_connect.errors import ConnectError
from sqlalchemy import types as sql
from sqlalchemy.engine import URL, Connection, Engine
from sqlalchemy.engine.interfaces import ReflectedColumn
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from copycat_jdbc.address import DRIVERS, Address, parse_address
from copycat_jdbc.failures import failed, not_connected
from copycat_jdbc.results import Money, ServerText, ServerType
from copycat_jdbc.settings import ConnectionSettings

#: What PostgreSQL's JDBC driver calls the relations of users, by how the catalogs mark them.
_KINDS: Final = {
    "TABLE": "r",
    "PARTITIONED TABLE": "p",
    "VIEW": "v",
    "MATERIALIZED VIEW": "m",
    "FOREIGN TABLE": "f",
}
_SYSTEM_KINDS: Final = {"SYSTEM TABLE": "r", "SYSTEM VIEW": "v"}
_RELATIONS: Final = (
    "SELECT n.nspname, c.relname, c.relkind::text FROM pg_catalog.pg_class c "
    "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
    "WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^pg_(toast|temp)' "
    "AND has_table_privilege(c.oid, 'SELECT') ORDER BY n.nspname, c.relname"
)

_TYPES: Final = (
    "SELECT oid::int8, format_type(oid, NULL), typtype::text, typcategory::text, "
    "scale(0::money::numeric) FROM pg_catalog.pg_type WHERE oid = ANY(%s)"
)


def like(name: str, pattern: str) -> bool:
    r"""Return whether a name is like a pattern.

    `%` is any text and `_` one character, but for those behind `\`.
    """
    parts = [""]
    for each in re.findall(r"\\.|.", pattern, re.DOTALL):
        if each == "%":
            parts.append("")
        else:
            parts[-1] += "." if each == "_" else re.escape(each[-1])
    # What stands between two % is best found as early as possible, so nothing is tried twice.
    first, *others = parts
    between = "".join(f"(?>.*?{each})" for each in others[:-1])
    expression = first + between + "".join(f".*{each}" for each in others[-1:])
    return re.fullmatch(expression, name, re.DOTALL) is not None


def _tables_of_postgresql(
    connection: Connection, kinds: Collection[str], catalog: str | None, schema: str | None
) -> list[tuple[str, str]]:
    """Return schema and name of the relations that may be read, in order.

    Raises:
        SQLAlchemyError: They cannot be listed.
    """
    here = connection.engine.url.database or ""
    if catalog is not None and not like(here, catalog):
        return []
    found = connection.exec_driver_sql(_RELATIONS).all()
    users = {_KINDS[kind] for kind in kinds if kind in _KINDS}
    system = {_SYSTEM_KINDS[kind] for kind in kinds if kind in _SYSTEM_KINDS}
    return [
        (space, name)
        for space, name, kind in found
        if kind in (system if _is_systems(space) else users) and (schema is None or like(space, schema))
    ]


def _is_systems(schema: str) -> bool:
    return schema in ("pg_catalog", "information_schema")


_CLOCKS: Final = {
    "postgresql": "SELECT CURRENT_TIMESTAMP",
    "mysql": "SELECT UTC_TIMESTAMP(6)",
    "mariadb": "SELECT UTC_TIMESTAMP(6)",
    "sqlite": "SELECT strftime('%Y-%m-%d %H:%M:%f', 'now')",
}
_SYSTEM_SCHEMAS: Final = frozenset({"information_schema", "mysql", "performance_schema", "sys"})


@dataclass(frozen=True, slots=True, order=True)
class TableName:
    """A table's name as far as the database has its parts; `str()` joins them with dots."""

    catalog: str | None
    """The database, where names begin with it (MySQL, MariaDB)."""
    schema: str | None
    """The schema, where there are schemas (PostgreSQL)."""
    name: str
    """The name alone."""

    def __str__(self) -> str:
        return ".".join(part for part in (self.catalog, self.schema, self.name) if part)

    @property
    def namespace(self) -> str | None:
        """What SQLAlchemy calls a schema."""
        return self.schema or self.catalog


class Database:
    """One database; use it from one thread. A connection is made when it is first asked for."""

    def __init__(self, settings: ConnectionSettings) -> None:
        """Use the address and whom to log in as; nothing is connected yet.

        Raises:
            ConfigError: The address is not one of the known kinds.
        """
        password, zone = settings.connection_password, settings.zone_name
        self.address: Address = parse_address(settings.connection_url)
        self.zone = ZoneInfo(zone)
        self.secret = (password and password.value) or self.address.options.get("password")
        self._engine = _engine(self.address, settings.connection_user, self.secret, zone, settings.isolation)
        self._connection: Connection | None = None

    @property
    def dialect(self) -> str:
        """`postgresql`, `mysql`, `mariadb` or `sqlite`."""
        return self.address.dialect

    def connect(self) -> Connection:
        """Return the connection, opening one if necessary.

        Raises:
            RetriableError: No server answers.
            Refused: The server lets nobody in.
        """
        if self._connection is None:
            try:
                self._connection = self._engine.connect()
            except SQLAlchemyError as error:
                raise not_connected(error, self.address, self.secret) from None
        return self._connection

    def close(self) -> None:
        """Close the connection, also one that is broken."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.invalidate()
            connection.close()

    def end_transaction(self) -> None:
        """Let go of what the last query read."""
        if self._connection is not None:
            try:
                self._connection.rollback()
            except SQLAlchemyError:
                self.close()

    def failed(self, error: SQLAlchemyError, doing: str) -> ConnectError:
        """Close the connection, and return the error to raise for a failed call."""
        self.close()
        return failed(error, doing, self.address, self.secret)

    def now(self) -> datetime:
        """Return the database's time, aware.

        Raises:
            ConnectError: It does not say.
        """
        try:
            found: Any = self.connect().exec_driver_sql(_CLOCKS[self.dialect]).scalar_one()
        except SQLAlchemyError as error:
            raise self.failed(error, "ask for the time") from None
        now = datetime.fromisoformat(found) if isinstance(found, str) else found
        return now if now.tzinfo else now.replace(tzinfo=UTC)

    def quoted(self, name: str, *, always: bool = True) -> str:
        """Return a name as it stands in a statement."""
        return self._engine.dialect.identifier_preparer.quote_identifier(name) if always else name

    def quoted_table(self, table: TableName, *, always: bool = True) -> str:
        """Return a table's whole name as it stands in a statement."""
        parts = (table.catalog, table.schema, table.name)
        return ".".join(self.quoted(part, always=always) for part in parts if part)

    def tables(
        self, kinds: frozenset[str], catalog: str | None = None, schema: str | None = None
    ) -> list[TableName]:
        """Return the tables, ordered by name.

        Args:
            kinds: What JDBC calls types of tables, e.g. `TABLE` and `VIEW`; unknown ones find nothing.
            catalog: Only of databases with this name, or else of those that are like this pattern; None for
                the database of the address, or for all but the system's where that has none.
            schema: Only of schemas that are like this pattern, where there are schemas; None for all.

        Raises:
            ConnectError: They cannot be listed.
        """
        try:
            if self.dialect == "postgresql":
                found = _tables_of_postgresql(self.connect(), kinds, catalog, schema)
                return [TableName(None, *each) for each in found]
            inspector = sqlalchemy.inspect(self.connect())
            tables = []
            for namespace in self._namespaces(inspector, catalog):
                names: list[str] = []
                names += inspector.get_table_names(namespace) if "TABLE" in kinds else []
                names += inspector.get_view_names(namespace) if "VIEW" in kinds else []
                tables += [TableName(namespace, None, name) for name in names]
        except SQLAlchemyError as error:
            raise self.failed(error, "list the tables") from None
        return sorted(tables, key=lambda table: (table.catalog or "", table.name))

    def columns(self, table: TableName) -> list[ReflectedColumn] | None:
        """Return what the database says of a table's columns; None when there is no such table.

        Raises:
            ConnectError: It does not say.
        """
        try:
            inspector = sqlalchemy.inspect(self.connect())
            return inspector.get_columns(table.name, table.namespace)
        except sqlalchemy.exc.NoSuchTableError:
            return None
        except SQLAlchemyError as error:
            raise self.failed(error, f"look at table {table}") from None

    def types(self, numbers: Collection[int]) -> dict[int, ServerType]:
        """Return PostgreSQL's types by their numbers, by which results name them.

        Raises:
            ConnectError: It does not say.
        """
        try:
            found = self.connect().exec_driver_sql(_TYPES, ([*numbers],)).all()
        except SQLAlchemyError as error:
            raise self.failed(error, "ask for types") from None
        own = {"citext": ServerText()}
        return {
            number: ServerType(
                name,
                Money(19, scale)
                if name == "money"
                else sql.Enum()
                if kind == "e"
                else own.get(name.rpartition(".")[2]),
                category not in ("A", "C", "P"),
            )
            for number, name, kind, category, scale in found
        }

    def _namespaces(self, inspector: sqlalchemy.Inspector, catalog: str | None) -> list[str | None]:
        if self.dialect == "sqlite":
            return [None]
        if catalog is None and self.address.database:
            return [self.address.database]
        every = inspector.get_schema_names()
        if catalog is None:
            return [each for each in every if each not in _SYSTEM_SCHEMAS]
        return [each for each in every if each == catalog] or [each for each in every if like(each, catalog)]


def _engine(
    address: Address, user: str | None, password: str | None, zone: str, isolation: str | None
) -> Engine:
    login = user or address.options.get("user")
    options: dict[str, Any] = {"poolclass": NullPool, "hide_parameters": True}
    if isolation is not None:
        options["isolation_level"] = isolation
    if not address.hosts:
        return sqlalchemy.create_engine(
            URL.create(DRIVERS[address.dialect], database=address.database), **options
        )
    arguments: dict[str, Any] = {}
    query: Mapping[str, str | tuple[str, ...]] = {}
    (host, port), *more = address.hosts
    if address.dialect == "postgresql":
        settings = [f"-c TimeZone={zone}"]
        if schema := address.options.get("currentSchema"):
            settings.append(f"-c search_path={schema}")
        arguments = {"connect_timeout": "10", **address.libpq_options(), "options": " ".join(settings)}
        options["json_deserializer"] = _undecoded
        if more:
            query = {"host": tuple(f"{each}:{number}" for each, number in address.hosts)}
    else:
        arguments = {"connect_timeout": 10, "init_command": "SET time_zone = '+00:00'"}
    url = URL.create(
        DRIVERS[address.dialect],
        username=login,
        password=password,
        host=None if query else host,
        port=None if query else port,
        database=address.database or None,
        query=query,
    )
    return sqlalchemy.create_engine(url, connect_args=arguments, **options)


def _undecoded(text: str | bytes) -> str:
    return text if isinstance(text, str) else text.decode()
