"""A table of Iceberg as its catalog has it; pyiceberg speaks with the catalog."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from copycat_connect.errors import ConnectError, RetriableError
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.exceptions import (
    CommitStateUnknownException,
    NoSuchNamespaceError,
    NoSuchTableError,
    RESTError,
    ServerError,
    ServiceUnavailableError,
    TooManyRequestsError,
    ValidationException,
)
from pyiceberg.table import Table
from sqlalchemy.exc import OperationalError, SQLAlchemyError

#: Failures after which the same may succeed.
_PASSING: Final = (
    OSError,
    OperationalError,
    CommitStateUnknownException,
    ServerError,
    ServiceUnavailableError,
    TooManyRequestsError,
)
#: Others of pyiceberg and of what it uses; its own have nothing in common.
_LASTING: Final = (RESTError, SQLAlchemyError, ValidationException, ValueError, ImportError)


class CatalogTable:
    """A table, which its catalog may not have yet."""

    def __init__(self, name: str, properties: Mapping[str, str]) -> None:
        """Choose the table by its namespace and name, and how pyiceberg reaches the catalog and the files.

        Args:
            name: Its namespace and name.
            properties: Those of pyiceberg's catalogs; `name` is the catalog's own, default by default, by
                which databases keep several apart.
        """
        self.name = name
        self._properties = {"name": "default", **properties}
        self._opened: Catalog | None = None

    @property
    def catalog(self) -> Catalog:
        """The catalog, connected to when first asked for.

        Raises:
            Exception: One of those that `failures` knows.
        """
        if self._opened is None:
            self._opened = load_catalog(**self._properties)
        return self._opened

    def load(self) -> Table | None:
        """Read the newest metadata; None where the table is missing.

        Raises:
            RetriableError: It cannot be read now.
            ConnectError: The catalog cannot be used.
        """
        with failures(f"The table {self.name} cannot be read"):
            try:
                return self.catalog.load_table(self.name)
            except (NoSuchTableError, NoSuchNamespaceError):
                return None

    def close(self) -> None:
        """Let go of the catalog."""
        if self._opened is not None:
            self._opened.close()


@contextmanager
def failures(what: str) -> Iterator[None]:
    """Say what could not be done.

    Raises:
        RetriableError: The catalog or the store is away, or it is not known what they have done.
        ConnectError: Any other failure of theirs.
    """
    try:
        yield
    except _PASSING as error:
        raise RetriableError(f"{what}: {error}") from error
    except _LASTING as error:
        raise ConnectError(f"{what}: {error}") from error
