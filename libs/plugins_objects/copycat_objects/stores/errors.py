"""What can be wrong with a store of files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from copycat_connect.errors import ConnectError, RetriableError
from copycat_connect.failure_kind import FailureKind


class StoreAwayError(RetriableError):
    """The store is away, slow or throttles: the same call may work later, and may have had its effect."""


class StoreRefusedError(ConnectError):
    """The store will not do it until somebody mends what the text names: the key or place, and the remedy."""


class StoreFullError(StoreRefusedError):
    """The store or a quota is full: the same call works once there is room."""


class FileTakenError(ConnectError):
    """There is a file at the path already, which was not to be replaced."""


class FileMissingError(ConnectError):
    """There is no file at the path."""


#: What these mean, for the specs of the plugins that write to stores: others say it by their classes.
FAILURES: Final[Mapping[type[BaseException], FailureKind]] = {StoreFullError: FailureKind.RESOURCE}
