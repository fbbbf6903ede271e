"""Where things are on this machine: the only module of this package that reads the environment."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import platformdirs

JARS_VARIABLE = "COPYCAT_JARS"


def user_cache() -> Path:
    """Return the folder of this user for what can be made again."""
    return Path(platformdirs.user_cache_dir("copycat", appauthor=False))


def private_folders() -> tuple[Path, ...]:
    """Return where something of this user may be kept for a while, the best first; none need be there yet.

    The last is for machines whose homes cannot be written. It has a known name in a folder of everybody, so
    look whose it is.
    """
    return user_cache() / "run", Path(tempfile.gettempdir()) / f"copycat-{os.getuid()}"


def given_jars() -> Path | None:
    """Return the folder of jars an air-gapped machine was given, if it was."""
    folder = os.environ.get(JARS_VARIABLE, "").strip()
    return Path(folder) if folder else None
