"""Addresses of databases as JDBC writes them."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, unquote

from copycat_connect.data.java import parse_integer
from copycat_connect.errors import ConfigError
from copycat_connect.files import check_client_file

#: The dialects of JDBC's addresses, with SQLAlchemy's name of the dialect and its driver.
DRIVERS: Final[Mapping[str, str]] = {
    "postgresql": "postgresql+psycopg",
    "mysql": "mysql+pymysql",
    "mariadb": "mysql+pymysql",
    "sqlite": "sqlite",
}
_SHAPES: Final = (
    "jdbc:postgresql://host:port/db, jdbc:mysql://host:port/db, jdbc:mariadb://host:port/db, jdbc:sqlite:path"
)
_SERVER = re.compile(r"//(?P<hosts>[^/?]*)(?:/(?P<database>[^?]*))?(?:\?(?P<options>.*))?\Z", re.DOTALL)
_PORTS = {"postgresql": 5432, "mysql": 3306, "mariadb": 3306}
#: Parameters of PostgreSQL's JDBC driver that libpq has too, by its name.
_POSTGRESQL_OPTIONS = {
    "ApplicationName": "application_name",
    "connectTimeout": "connect_timeout",
    "sslcert": "sslcert",
    "sslkey": "sslkey",
    "sslmode": "sslmode",
    "sslrootcert": "sslrootcert",
    "targetServerType": "target_session_attrs",
}
_FILES = frozenset({"sslcert", "sslkey", "sslrootcert"})
_SESSIONS = {"primary": "read-write", "master": "read-write", "secondary": "standby", "slave": "standby"}
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Address:
    """Where a database is, taken from `connection.url`; what it shows of itself has no secrets."""

    dialect: str
    """`postgresql`, `mysql`, `mariadb` or `sqlite`."""
    hosts: tuple[tuple[str, int], ...]
    """The servers, the first to be tried first; none for a file."""
    database: str
    """Name of the database, or the path of the file."""
    options: Mapping[str, str]
    """The parameters behind the question mark."""

    @property
    def zero_dates(self) -> str:
        """What `zeroDateTimeBehavior` makes of MySQL's date of zeros, as newer drivers write it."""
        named = self.options.get("zeroDateTimeBehavior", "EXCEPTION")
        return "CONVERT_TO_NULL" if named.lower() == "converttonull" else named.upper()

    def __str__(self) -> str:
        if not self.hosts:
            return f"jdbc:{self.dialect}:{self.database}"
        servers = ",".join(f"{host}:{port}" for host, port in self.hosts)
        return f"jdbc:{self.dialect}://{servers}/{self.database}"

    def __repr__(self) -> str:
        return f"Address({self})"

    def libpq_options(self) -> dict[str, str]:
        """Return the parameters as libpq names them; those it does not have are left out, with a warning.

        Raises:
            ConfigError: One names what is no file that can be read.
        """
        found = {}
        for name, value in self.options.items():
            if name in _FILES:
                check_client_file(f"{name} of connection.url", value)
            if name in _POSTGRESQL_OPTIONS:
                found[_POSTGRESQL_OPTIONS[name]] = _SESSIONS.get(value, value)
            elif name == "ssl" and value.lower() != "false":
                found.setdefault("sslmode", "verify-full")
            elif name not in ("user", "password", "currentSchema", "ssl"):
                _log.warning("The parameter %s of connection.url has no effect here", name)
        return found


def parse_address(url: str, key: str = "connection.url") -> Address:
    """Read an address.

    Raises:
        ConfigError: It is not one of the known kinds; the text names the key and not the value, which
            may hold a password.
    """
    scheme, _, rest = url.strip().partition(":")
    dialect, _, place = rest.partition(":")
    if scheme.lower() != "jdbc" or dialect.lower() not in DRIVERS:
        raise ConfigError(f"Invalid value for configuration {key}: expected one of {_SHAPES}", key=key)
    dialect = dialect.lower()
    if dialect == "sqlite":
        path, _, parameters = place.partition("?")
        return Address(dialect, (), path or ":memory:", dict(parse_qsl(parameters)))
    found = _SERVER.match(place)
    if found is None:
        raise ConfigError(
            f"Invalid value for configuration {key}: expected jdbc:{dialect}://host:port/database", key=key
        )
    hosts = tuple(
        _host(part, _PORTS[dialect], key)
        for part in (found["hosts"] or "localhost").rpartition("@")[2].split(",")
    )
    options = dict(parse_qsl(found["options"] or "", keep_blank_values=True))
    return Address(dialect, hosts, unquote(found["database"] or ""), options)


def _host(text: str, default: int, key: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        return text.strip("[]") or "localhost", default
    number = parse_integer(port, 32)
    if number is None or not 0 < number < 65536:
        raise ConfigError(
            f"Invalid value for configuration {key}: the port is no number from 1 to 65535", key=key
        )
    return host.strip("[]") or "localhost", number
