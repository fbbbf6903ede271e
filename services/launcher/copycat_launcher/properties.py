"""Java properties files, as Connect reads and writes them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f"}
IN_KEYS = {**ESCAPES, " ": "\\ ", ":": "\\:", "=": "\\="}


def write_properties(path: Path, properties: Mapping[str, str], comment: str = "") -> None:
    """Write a file a Java program and our own reader understand alike."""
    lines = [f"# {line}" for line in comment.splitlines()]
    lines += [f"{_key(key)}={_value(value)}" for key, value in properties.items()]
    half = path.with_name(f"{path.name}.half")
    half.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    half.replace(path)


def _key(text: str) -> str:
    escaped = "".join(IN_KEYS.get(character, character) for character in text)
    return f"\\{escaped}" if escaped.startswith(("#", "!")) else escaped


def _value(text: str) -> str:
    escaped = "".join(ESCAPES.get(character, character) for character in text)
    return f"\\{escaped}" if escaped.startswith(" ") else escaped  # leading blanks would be skipped
