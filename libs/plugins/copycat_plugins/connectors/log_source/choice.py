"""Which files are read: what `files` finds and the expressions let through, by the log they belong to."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import translate
from pathlib import Path

from copycat_connect.config.user_pattern import compile_user_pattern

from copycat_plugins.connectors.log_source.names import LogNames
from copycat_plugins.connectors.log_source.settings import EXCLUDE, INCLUDE, ROTATED_NAMES, LogSourceSettings

_PATTERN = re.compile(r"[*?\[]")
_DEEP = re.compile(r"(?:/\*\*)+(?=/|\Z)")


class DirectoryListing:
    """The names in directories, each looked up once."""

    def __init__(self) -> None:
        self._names: dict[str, list[str]] = {}
        self._logs: dict[str, dict[str, list[str]]] = {}

    def names(self, directory: str) -> list[str]:
        """Return the names of the files in a directory; none where it is not there or may not be read."""
        found = self._names.get(directory)
        if found is None:
            try:
                with os.scandir(directory) as entries:
                    found = [entry.name for entry in entries if _is_file(entry)]
            except OSError:
                found = []
            self._names[directory] = found
        return found

    def names_of(self, log: str, log_of: Callable[[str], str]) -> list[str]:
        """Return the names of the files that belong to a log, all in its directory."""
        directory = os.path.dirname(log)  # noqa: PTH120  # for thousands, as everywhere here
        logs = self._logs.get(directory)
        if logs is None:
            logs = self._logs[directory] = {}
            for name in self.names(directory):
                logs.setdefault(log_of(f"{directory}/{name}"), []).append(name)
        return logs.get(log, [])


class FileChoice:
    """Finds files."""

    def __init__(self, settings: LogSourceSettings) -> None:
        self._files = [*map(os.path.normpath, settings.files)]
        self._include = _matcher(INCLUDE, settings.files_include_regex)
        self._exclude = _matcher(EXCLUDE, settings.files_exclude_regex)
        self._names = LogNames(ROTATED_NAMES, settings.rotated_names_regex)

    @property
    def most(self) -> int | None:
        """How many logs there can be; None where that depends on what is found."""
        if any(_PATTERN.search(each) or Path(each).is_dir() for each in self._files):
            return None
        return len({self.log_of(each) for each in self._files})

    def log_of(self, path: str) -> str:
        """Return the path of the log that a file belongs to."""
        directory, name = os.path.split(path)
        return os.path.join(directory, self._names.log_of(name))  # noqa: PTH118  # for thousands, each second

    def find(self, listing: DirectoryListing) -> dict[str, list[str]]:
        """Return the files there are, by the log they belong to."""
        found: dict[str, list[str]] = {}
        seen: set[str] = set()
        for directory, names in self._candidates(listing):
            for name in names:
                path = f"{directory}/{name}" if directory != "/" else f"/{name}"
                if path not in seen and self._takes(name):
                    seen.add(path)
                    log = f"{path[: -len(name)]}{self._names.log_of(name)}"
                    found.setdefault(log, []).append(path)
        return found

    def named(self) -> dict[str, str]:
        """Return the files that are named themselves, by the log they belong to."""
        files = (each for each in self._files if _PATTERN.search(each) is None)
        return {self.log_of(each): each for each in files if not Path(each).is_dir()}

    def missing_folders(self) -> list[str]:
        """Return the folders that patterns begin with and that do not exist."""
        patterns = (each for each in self._files if _PATTERN.search(each) is not None)
        folders = dict.fromkeys(_PATTERN.split(each)[0].rpartition("/")[0] or "/" for each in patterns)
        return [each for each in folders if not Path(each).is_dir()]

    def _takes(self, name: str) -> bool:
        if self._include is not None and not self._include(name):
            return False
        return self._exclude is None or not self._exclude(name)

    def _candidates(self, listing: DirectoryListing) -> Iterator[tuple[str, list[str]]]:
        for each in self._files:
            directory, name = os.path.split(each)
            if _PATTERN.search(each) is None:
                if Path(each).is_dir():
                    yield each, _visible(listing.names(each))
                else:
                    yield directory, [name]  # also while it is missing: rotation may just have taken it away
                continue
            fits = re.compile(translate("*" if name == "**" else name)).match
            shown = name.startswith(".")
            for folder in _directories(directory, deep=name == "**"):
                names = listing.names(folder)
                yield folder, [one for one in (names if shown else _visible(names)) if fits(one)]


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:  # a link that leads in a circle
        return False


def _directories(pattern: str, *, deep: bool) -> list[str]:
    if deep:
        pattern = f"{pattern}/**"
    # Several in a row mean what one means, and would be tried in all combinations.
    pattern = _DEEP.sub("/**", pattern)
    if _PATTERN.search(pattern) is None:
        return [pattern]
    found = glob.glob(f"{pattern}/", recursive=True)  # noqa: PTH207  # pathlib's knows no absolute patterns
    return [each.rstrip("/") or "/" for each in found]


def _visible(names: list[str]) -> list[str]:
    return [name for name in names if not name.startswith(".")]


def _matcher(key: str, expressions: Sequence[str]) -> Callable[[str], bool] | None:
    if not expressions:
        return None
    patterns = [compile_user_pattern(key, each) for each in expressions]
    return lambda name: any(each.fullmatch(name) for each in patterns)
