"""Resources of extensions: which request goes to which."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

from copycat_connect.errors import ConfigError
from copycat_connect.plugin.rest_extensions import Resource

METHOD: Final = re.compile(r"[A-Z]+")
PARAMETER: Final = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)(?::str)?\}")
Pattern = Sequence[str]


@dataclass(frozen=True, slots=True)
class FoundResource:
    """The resource that answers a request, with what its path says."""

    answer: Resource
    """The extension's resource."""
    parameters: Mapping[str, str]
    """What stands in the places of its path."""


class Resources:
    """The resources of all extensions; none takes a path from the interface itself."""

    def __init__(self, taken: Iterable[tuple[str, str]] = ()) -> None:
        """`taken`: method and path of what answers already."""
        self._taken = [(method, _pattern(path)) for method, path in taken]
        self._added: list[tuple[str, Pattern, Resource]] = []

    def add(self, method: str, path: str, answer: Resource) -> None:
        """Add one.

        Raises:
            ConfigError: The method or the path is malformed, or it is taken.
        """
        if METHOD.fullmatch(method) is None:
            raise ConfigError(f"'{method}' is no HTTP method: write GET, PUT, POST, PATCH or DELETE")
        if not path.startswith("/") or "//" in path or path == "/":
            raise ConfigError(
                f"The path '{path}' of a resource is malformed: write /guests or /guests/{{name}}"
            )
        pattern = _pattern(path)
        for known, other in (*self._taken, *((each, its) for each, its, _ in self._added)):
            if known == method and _meet(pattern, other):
                raise ConfigError(f"{method} {path} is answered already, by /{'/'.join(other)}")
        self._added.append((method, pattern, answer))

    def find(self, method: str, path: str) -> FoundResource | None:
        """Return what answers a normalised path; HEAD is answered as GET."""
        wanted = "GET" if method == "HEAD" else method
        segments = path.strip("/").split("/")
        for known, pattern, answer in self._added:
            if known == wanted and _meet(pattern, segments):
                return FoundResource(answer, dict(_filled(pattern, segments)))
        return None

    @property
    def are_none(self) -> bool:
        """True where no extension has added one."""
        return not self._added


def _pattern(path: str) -> Pattern:
    parts: Collection[str] = path.strip("/").split("/")
    return [part if PARAMETER.fullmatch(part) else quote(unquote(part), safe="") for part in parts]


def _meet(one: Pattern, other: Pattern) -> bool:
    """Tell whether a path exists that both are for."""
    return len(one) == len(other) and all(
        mine == its or PARAMETER.fullmatch(mine) or PARAMETER.fullmatch(its)
        for mine, its in zip(one, other, strict=True)
    )


def _filled(pattern: Pattern, segments: Sequence[str]) -> Iterable[tuple[str, str]]:
    for part, segment in zip(pattern, segments, strict=True):
        if match := PARAMETER.fullmatch(part):
            yield match[1], unquote(segment)
