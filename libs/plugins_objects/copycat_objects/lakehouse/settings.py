"""The keys that name a table of Iceberg and its catalog, and the packages that formats of tables need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from typing import Final

from copycat_connect.cluster import Config
from copycat_connect.config import HIGH, MEDIUM, ConfigDef, Password, one_of
from copycat_connect.config.setting import ConfigSetting
from copycat_connect.config.settings import Settings, key, taken_from
from copycat_connect.errors import ConfigError

ICEBERG: Final = "iceberg"
"""The format's name in configurations."""
ICEBERG_TABLE: Final = "iceberg.table"
#: Of keys that are properties of pyiceberg's catalogs, by the names that they have there.
CATALOG: Final = "iceberg.catalog."
CATALOG_URI: Final = f"{CATALOG}uri"
SQL, REST = "sql", "rest"


def _properties(config: Config) -> Mapping[str, str]:
    """Return the properties of the catalog, by the names that pyiceberg has for them."""
    found = {
        name.removeprefix(CATALOG): value
        for name, value in config.items()
        if name.startswith(CATALOG) and value
    }
    return {"type": SQL, **found}


def _identifier(name: str, value: ConfigSetting) -> None:
    """Accept the name of a table with its namespace.

    Raises:
        ConfigError: It is another text.
    """
    parts = str(value or "a.b").split(".")
    if len(parts) < 2 or not all(parts):
        raise ConfigError(
            f"Invalid value {value} for configuration {name}: expected namespace.name, e.g. lake.orders",
            key=name,
        )


class CatalogSettings(Settings):
    """Which table of which catalog."""

    table: str = key(
        HIGH,
        name=ICEBERG_TABLE,
        default="",
        check=_identifier,
        doc="The table of Iceberg as its catalog has it: namespace.name.",
    )
    catalog_type: str = key(
        MEDIUM,
        name=f"{CATALOG}type",
        default=SQL,
        check=one_of(SQL, REST),
        doc="Kind of the catalog: sql (tables of a database) or rest (a service that speaks Iceberg's REST "
        f"protocol). Further keys that begin with {CATALOG} are properties of pyiceberg, e.g. "
        f"{CATALOG}warehouse or {CATALOG}s3.endpoint.",
    )
    catalog_uri: Password | None = key(
        HIGH,
        name=CATALOG_URI,
        default=None,
        doc="Address of the catalog: postgresql+psycopg://user:password@host/database, sqlite:////file, "
        "which one worker sees, or https://host of a service. It may have a password, so it is not shown.",
    )
    catalog_credential: Password | None = key(
        MEDIUM,
        name=f"{CATALOG}credential",
        default=None,
        doc="Whom to be at a service: client:secret, for OAuth2.",
    )
    catalog_token: Password | None = key(
        MEDIUM, name=f"{CATALOG}token", default=None, doc="A token for the service, in place of that."
    )
    properties: Mapping[str, str] = taken_from(_properties)

    @classmethod
    def below(cls, prefix: str, config: Config) -> CatalogSettings:
        """Return the settings of a configuration that has them with a prefix before their names.

        Raises:
            ConfigError: A value is wrong.
        """
        keys = cls.config_def().keys
        named = ConfigDef(*(replace(each, name=f"{prefix}{name}") for name, each in keys.items()))
        parsed = named.parse(config)
        bare = {name.removeprefix(prefix): text for name, text in config.items() if name.startswith(prefix)}
        return cls.from_parsed({name: parsed[f"{prefix}{name}"] for name in keys}, bare)

    def check(self, prefix: str = "") -> None:
        """Accept settings that name a table and a catalog, if what reads catalogs is here.

        Raises:
            ConfigError: Something of it is missing.
        """
        for name, value in ((ICEBERG_TABLE, self.table), (CATALOG_URI, self.properties.get("uri"))):
            if not value:
                raise ConfigError(f"{prefix}format={ICEBERG} needs {prefix}{name}", key=f"{prefix}{name}")
        need_package(ICEBERG, "pyiceberg", "'pyiceberg[pyarrow,sql-sqlite]'", f"{prefix}format")


def need_package(format_: str, package: str, installed: str, key: str = "format") -> None:
    """Accept a format of tables if this worker has its Python package, which pip knows as `installed`.

    Raises:
        ConfigError: It has not.
    """
    if find_spec(package) is None:
        raise ConfigError(
            f"Invalid value {format_} for configuration {key}: this worker does not have the Python package "
            f"{package}, which reads and commits such tables; install it (pip install {installed})",
            key=key,
        )
