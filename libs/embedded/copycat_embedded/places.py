"""Where things are on this machine: the only module of this package that reads the environment."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

JARS_VARIABLE = "COPYCAT_JARS"


def user_cache() -> Path:
    """Return the folder of this user for what can be made again."""
    return Path(platformdirs.user_cache_dir("copycat", appauthor=False))


def given_jars() -> Path | None:
    """Return the folder of jars an air-gapped machine was given, if it was."""
    folder = os.environ.get(JARS_VARIABLE, "").strip()
    return Path(folder) if folder else None
