"""What classes refer to, read from the constant pools of their class files (Java VM specification 4.4)."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

UTF8, CLASS, LONG, DOUBLE = 1, 7, 5, 6
#: Bytes of each kind of constant behind its tag; a text has its own length.
SIZES = {
    3: 4,
    4: 4,
    5: 8,
    6: 8,
    7: 2,
    8: 2,
    9: 4,
    10: 4,
    11: 4,
    12: 4,
    15: 3,
    16: 2,
    17: 4,
    18: 4,
    19: 2,
    20: 2,
}
VERSIONED = "META-INF/versions/"
JAVA = ("java/", "javax/", "jdk/", "sun/", "com/sun/", "org/ietf/", "org/w3c/", "org/xml/")


def missing_packages(jars: Iterable[Path]) -> dict[str, set[str]]:
    """Return each package that classes refer to and that neither Java nor a jar has, with those classes."""
    present: set[str] = set()
    referred: dict[str, set[str]] = {}
    for jar in jars:
        for name, code in _classes(jar):
            present.add(name)
            for other in _references(code):
                referred.setdefault(other, set()).add(name)
    missing: dict[str, set[str]] = {}
    for name, users in referred.items():
        if "/" in name and name not in present and not name.startswith(JAVA):
            missing.setdefault(name.rpartition("/")[0].replace("/", "."), set()).update(users)
    return missing


def _classes(jar: Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(jar) as archive:
        for entry in archive.namelist():
            if entry.endswith(".class"):
                path = entry.removesuffix(".class")
                if path.startswith(VERSIONED):
                    path = path.removeprefix(VERSIONED).partition("/")[2]
                yield path, archive.read(entry)


def _references(code: bytes) -> set[str]:
    count, place, number = struct.unpack_from(">H", code, 8)[0], 10, 1
    texts: dict[int, str] = {}
    classes: list[int] = []
    while number < count:
        tag = code[place]
        if tag == UTF8:
            end = place + 3 + int(struct.unpack_from(">H", code, place + 1)[0])
            texts[number] = code[place + 3 : end].decode("utf-8", "replace")
            place = end
        else:
            if tag == CLASS:
                classes.append(struct.unpack_from(">H", code, place + 1)[0])
            place += 1 + SIZES[tag]
        number += 2 if tag in {LONG, DOUBLE} else 1
    return {_element(texts[name]) for name in classes}


def _element(name: str) -> str:
    """Return the class itself, or that of an array's elements."""
    element = name.lstrip("[")
    return element[1:-1] if name.startswith("[") and element.endswith(";") else element
