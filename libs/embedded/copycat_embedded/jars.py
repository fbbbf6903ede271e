"""The jars of a program, verified: fetched once into the user's cache, hashed before every start."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from copycat_embedded.errors import JarError
from copycat_embedded.lock import Jar, JarSet, locked
from copycat_embedded.places import JARS_VARIABLE, given_jars, user_cache


def ensure_jars(names: Iterable[JarSet] = ("broker",)) -> tuple[Path, ...]:
    """Return the jars of the named sets in class path order, every one just verified.

    Missing ones are fetched, unless `COPYCAT_JARS` names a folder: then all must be there.

    Raises:
        JarError: A jar is missing, cannot be fetched, or differs from the lock.
    """
    jars = locked(tuple(names))
    folder = given_jars() or user_cache() / "jars"
    missing = [jar for jar in jars if not (folder / jar.file_name).is_file()]
    if missing:
        _supply(missing, folder)
    for jar in jars:
        if jar not in missing:
            verify(jar, folder / jar.file_name)
    return tuple(folder / jar.file_name for jar in jars)


def verify(jar: Jar, path: Path) -> None:
    """Refuse a file that is not the locked jar."""
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != jar.sha256:
        raise JarError(
            f"{path} is not {jar.coordinate}: its sha256 is {found}, the lock says {jar.sha256}. "
            "Find out who changed it, delete the file and start again.",
            jar=jar.coordinate,
            file=str(path),
        )


def _supply(missing: list[Jar], folder: Path) -> None:
    if given_jars() is not None:
        names = ", ".join(jar.file_name for jar in missing)
        raise JarError(
            f"{JARS_VARIABLE}={folder} lacks {names}. Copy them there, or unset it to fetch them.",
            jar=missing[0].coordinate,
            file=str(folder),
        )
    from copycat_embedded.fetch import fetch_all  # 160 ms that only the first start needs

    fetch_all(missing, folder, verify)
