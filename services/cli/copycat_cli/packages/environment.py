"""The packages that are installed in the Python environment that runs this program."""

from __future__ import annotations

from importlib import invalidate_caches
from importlib.metadata import distributions

from packaging.utils import canonicalize_name


def installed_packages() -> dict[str, str]:
    """Return the version of each installed package by its canonical name: lower case, with hyphens."""
    invalidate_caches()  # a package may have come a moment ago
    packages: dict[str, str] = {}
    for distribution in distributions():
        name = distribution.metadata["Name"]
        if name:  # a half-removed package leaves a folder without metadata
            packages.setdefault(canonicalize_name(name), distribution.version)
    return packages
