"""The version of the plugins of our own; those with Kafka's class names report Kafka's."""

from __future__ import annotations

from importlib.metadata import version

VERSION = version("copycat-plugins")
