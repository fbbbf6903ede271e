"""What connectors of databases have in common of their settings."""

from __future__ import annotations

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
    doc="Whether names of tables and columns are quoted in statements.",
)


def is_always(value: str) -> bool:
    """Return what `QUOTES` says as a yes or no."""
    return value == "always"


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
