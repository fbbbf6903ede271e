"""The version of the plugins of this distribution."""

from __future__ import annotations

from importlib.metadata import version

VERSION = version("copycat-registry")
