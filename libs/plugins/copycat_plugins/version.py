"""The version of the built-in plugins, looked up once."""

from __future__ import annotations

from importlib.metadata import version

VERSION = version("copycat-plugins")
