"""What connectors of databases have in common of their settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from string import ascii_lowercase, ascii_uppercase
from typing import Final

from copycat_connect.config import HIGH, MEDIUM, STRING, ConfigKey, Password, one_of
from copycat_connect.config.settings import Settings, key

URL: Final = "connection.url"
QUOTES: Final = ConfigKey(
    "quote.sql.identifiers",
    STRING,
    MEDIUM,
    default="always",
    validator=one_of("always", "never"),
    doc="Whether names of tables and columns are quoted in statements. Names of columns in other keys are "
    "compared as the database does it: without case in MariaDB, MySQL and SQLite, and unquoted.",
)


def is_always(value: str) -> bool:
    """Return what `QUOTES` says as a yes or no."""
    return value == "always"


_TO_LOWER: Final = str.maketrans(ascii_uppercase, ascii_lowercase)


def folding(dialect: str, *, quoted: bool) -> Callable[[str], str]:
    """Return what makes one text of all spellings that a database takes for one name of a column.

    Args:
        dialect: `postgresql`, `mysql`, `mariadb` or `sqlite`.
        quoted: Whether names are quoted in statements: PostgreSQL writes others in small letters.
    """
    if dialect == "sqlite":
        return lambda name: name.translate(_TO_LOWER)
    return str if dialect == "postgresql" and quoted else str.lower


def spelling(name: str, names: Iterable[str], folded: Callable[[str], str]) -> str | None:
    """Return how that one of some names is spelt which a database takes for this one; else None."""
    every = [*names]
    if name in every:
        return name
    wanted = folded(name)
    return next((each for each in every if folded(each) == wanted), None)


class ConnectionSettings(Settings):
    """Which database, whom to log in as, and what connections are like."""

    connection_url: str = key(
        HIGH,
        name=URL,
        doc="The database: jdbc:postgresql://host:port/db, jdbc:mysql://host:port/db, "
        "jdbc:mariadb://host:port/db or jdbc:sqlite:path.",
    )
    connection_user: str | None = key(HIGH, default=None, doc="Whom to log in as.")
    connection_password: Password | None = key(HIGH, default=None, doc="The password; it is never shown.")

    @property
    def zone_name(self) -> str:
        """Time zone of columns that have none themselves."""
        return "UTC"

    @property
    def isolation(self) -> str | None:
        """Isolation of transactions as SQLAlchemy names it; None for the database's own."""
        return None
