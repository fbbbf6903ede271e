"""Paths of files below a store's root."""

from __future__ import annotations

from copycat_connect.errors import ConnectError


def checked(path: str) -> str:
    """Return a file's path that stays below the root of its store.

    Raises:
        ConnectError: It is no path of names with `/` between them.
    """
    names = path.split("/")
    if any(name in ("", ".", "..") or "\0" in name for name in names):
        raise ConnectError(
            f"Not a path of a file in a store: {path!r}; expected names with one '/' between them, no '..'"
        )
    return path


def parent(path: str) -> str:
    """Return the folder of a file, empty for the root."""
    return path.rpartition("/")[0]
