"""Properties files, written as one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from copycat_connect.config.properties import format_properties


def write_properties(path: Path, properties: Mapping[str, str], comment: str = "") -> None:
    """Write a file that is there whole or not at all."""
    half = path.with_name(f"{path.name}.half")
    half.write_text(format_properties(properties, comment), encoding="utf-8")
    half.replace(path)
