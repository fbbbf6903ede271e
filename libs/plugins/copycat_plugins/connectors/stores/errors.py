"""What can be wrong with a store of files."""

from __future__ import annotations

from copycat_connect.errors import ConnectError, RetriableError


class StoreAwayError(RetriableError):
    """The store is away, slow or throttles: the same call may work later, and may have had its effect."""


class StoreRefusedError(ConnectError):
    """The store will not do it until somebody mends what the text names: the key or place, and the remedy."""


class FileTakenError(ConnectError):
    """There is a file at the path already, which was not to be replaced."""


class FileMissingError(ConnectError):
    """There is no file at the path."""
