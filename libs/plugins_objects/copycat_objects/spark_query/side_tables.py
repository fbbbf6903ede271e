"""Tables that a query joins: how they are configured (`tables`), and what is said of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from copycat_connect.config.secrets import Redactor
from copycat_connect.config.setting import HIDDEN
from copycat_connect.errors import ConfigError
from copycat_connect.plugin import TABLES
from copycat_connect.plugin.row_query import RECORDS

from copycat_objects.lakehouse.settings import CATALOG, ICEBERG, ICEBERG_TABLE, CatalogSettings
from copycat_objects.spark.databases import DBTABLE, DRIVER, QUERY, URL
from copycat_objects.spark.settings import FORMATS, JDBC, SCHEMES

PREFIX: Final = "table."
FORMAT_KEY, URL_KEY, OPTION_KEY = "format", "url", "option."
_NAME: Final = re.compile(r"[A-Za-z]\w*")
#: Names of options whose values are not shown, and what the address of a database may not have.
_SECRET: Final = re.compile(r"password|passwd|pwd|secret|token|credential", re.IGNORECASE)
_SECRET_IN_ADDRESS: Final = re.compile(rf"({_SECRET.pattern})\w*=|//[^/?]*@", re.IGNORECASE)
_REASON_CHARACTERS: Final = 500


@dataclass(frozen=True, slots=True)
class SideTable:
    """A table."""

    name: str
    """By which a query knows it."""
    format: str
    """As SparkSource has it."""
    url: str
    """The address of its files, or of its database."""
    options: Mapping[str, str] = field(repr=False)
    """Of Spark's reader, by its names."""
    catalog: CatalogSettings | None = None
    """What names a table of Iceberg."""

    def key(self, of: str) -> str:
        """Return a key of its configuration."""
        return f"{PREFIX}{self.name}.{of}"

    def check(self) -> None:
        """Accept settings that work together.

        Raises:
            ConfigError: They do not.
        """
        if not self.format:
            raise _wrong(
                f"Missing required configuration {self.key(FORMAT_KEY)}: one of {', '.join(FORMATS)}"
            )
        if self.format not in FORMATS:
            raise _wrong(
                f"Invalid value {self.format} for configuration {self.key(FORMAT_KEY)}: expected one of "
                f"{', '.join(FORMATS)}"
            )
        schemes: tuple[str, ...] = SCHEMES
        shape = "file:///folder or hdfs://host:port/folder"
        if self.format == JDBC:
            schemes, shape = ("jdbc:",), "the address of a database, jdbc:postgresql://host:5432/shop"
        if not self.url:
            raise _wrong(f"Missing required configuration {self.key(URL_KEY)}: {shape}")
        if not self.url.startswith(schemes):
            raise _wrong(f"Invalid value for configuration {self.key(URL_KEY)}: expected {shape}")
        if self.format == JDBC:
            self._check_database()

    def _check_database(self) -> None:
        if _SECRET_IN_ADDRESS.search(self.url):
            raise _wrong(
                f"Invalid value for configuration {self.key(URL_KEY)}: an address holds no user and no "
                f"password; put them into {self.key(OPTION_KEY)}user and {self.key(OPTION_KEY)}password"
            )
        given = {name.lower() for name, value in self.options.items() if value}
        if URL in given:
            raise _wrong(f"Leave out {self.key(OPTION_KEY)}{URL}: the address is {self.key(URL_KEY)}")
        option = self.key(OPTION_KEY)
        if DRIVER not in given:
            raise _wrong(f"A table of a database needs {option}{DRIVER}, e.g. org.postgresql.Driver")
        if (DBTABLE in given) == (QUERY in given):
            raise _wrong(
                f"A table of a database needs {option}{DBTABLE}, its name, or {option}{QUERY}, a SELECT, and "
                "not both"
            )

    def shown(self, error: Exception) -> str:
        """Return the line of an error that says why, without secrets."""
        java = getattr(error, "java_exception", None)
        text = str(error) if java is None else str(java.toString())
        given = {**self.options, **({} if self.catalog is None else self.catalog.properties)}
        secrets = {value: HIDDEN for name, value in given.items() if _SECRET.search(name)}
        line = next(iter(text.strip().splitlines()), type(error).__name__)
        return Redactor(secrets).scrub(line)[:_REASON_CHARACTERS]


def side_tables(names: Sequence[str], config: Mapping[str, str | None]) -> tuple[SideTable, ...]:
    """Return the tables of a configuration, given their names.

    Raises:
        ConfigError: A name cannot be one, or a key is not known.
    """
    for name in names:
        if not _NAME.fullmatch(name) or name.lower() == RECORDS:
            raise _wrong(
                f"Invalid value for configuration {TABLES}: {name} is no name of a table: use letters, "
                f"digits and _, and not {RECORDS}"
            )
    keys: dict[str, dict[str, str]] = {name: {} for name in names}
    for key, value in config.items():
        name, dot, rest = key.removeprefix(PREFIX).partition(".")
        if not key.startswith(PREFIX) or not dot or value is None:
            continue
        if name not in keys:
            raise _wrong(f"The configuration {key} is of a table that {TABLES} does not name: {name}")
        if rest not in {FORMAT_KEY, URL_KEY, ICEBERG_TABLE} and not rest.startswith((OPTION_KEY, CATALOG)):
            raise _wrong(
                f"The configuration {key} is not known: a table has {FORMAT_KEY}, {URL_KEY}, keys that "
                f"begin with {PREFIX}{name}.{OPTION_KEY} for the options of Spark's reader, and of {ICEBERG} "
                f"{ICEBERG_TABLE} and keys that begin with {PREFIX}{name}.{CATALOG}"
            )
        keys[name][rest] = value.strip()
    return tuple(_side_table(name, found) for name, found in keys.items())


def _side_table(name: str, found: Mapping[str, str]) -> SideTable:
    """Return a table, given its keys without their beginning.

    Raises:
        ConfigError: One of them is wrong.
    """
    format_ = found.get(FORMAT_KEY, "")
    catalog = _catalog(f"{PREFIX}{name}.", found) if format_ == ICEBERG else None
    options = {
        key.removeprefix(OPTION_KEY): text for key, text in found.items() if key.startswith(OPTION_KEY)
    }
    return SideTable(name, format_, found.get(URL_KEY, ""), options, catalog)


def _catalog(prefix: str, found: Mapping[str, str]) -> CatalogSettings:
    """Return what names a table of Iceberg.

    Raises:
        ConfigError: It is wrong or missing.
    """
    try:
        settings = CatalogSettings.below(prefix, {f"{prefix}{key}": text for key, text in found.items()})
        settings.check(prefix)
    except ConfigError as error:
        raise _wrong(error.message) from error
    return settings


def _wrong(text: str) -> ConfigError:
    return ConfigError(text, key=TABLES)
