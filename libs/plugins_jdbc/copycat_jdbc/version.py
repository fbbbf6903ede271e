"""The version of the JDBC connectors."""

from __future__ import annotations

from importlib.metadata import version

VERSION = version("copycat-jdbc")
