"""Looks for files that are new, a little at a time, since a store may hold very many."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from copycat_plugins.connectors.object_source.choice import Choice, Picked
from copycat_plugins.connectors.stores.store import Store, StoredFile


@dataclass(frozen=True, slots=True)
class Found:
    """A file to read."""

    file: StoredFile
    """What the store says of it."""
    picked: Picked
    """What is to be done with it."""


class Listing:
    """Goes through a store again and again, and returns what it has not returned before."""

    def __init__(
        self, store: Store, choice: Choice, min_age_millis: int, clock: Callable[[], float] = time.time
    ) -> None:
        """Begin with nothing known; the clock gives seconds since 1970."""
        self._store = store
        self._choice = choice
        self._min_age_millis = min_age_millis
        self._clock = clock
        self._known: dict[str, StoredFile] = {}
        self._seen: dict[str, StoredFile] = {}
        self._new: list[Found] = []
        self._files: Iterator[StoredFile] | None = None
        self._any = False
        self.missing: str | None = None
        """The folder that is looked through, where it does not exist."""

    def advance(self, seconds: float) -> list[Found] | None:
        """Look for about so long; return the new files, in order, when the end is reached.

        Raises:
            ConnectError: The store's errors; the next call begins again.
        """
        if self._files is None:
            self._files, self._seen, self._new = self._store.list(self._choice.prefix), {}, []
            self._any = False
        until = time.monotonic() + seconds
        try:
            for file in self._files:
                self._any = True
                self._look_at(file)
                if time.monotonic() > until:
                    return None
        except BaseException:
            self._files = None
            raise
        self._files, self._known = None, self._seen
        self.missing = None if self._any or self._store.has_folder(self._choice.prefix) else self._place()
        return sorted(self._new, key=lambda found: found.picked.rank)

    def _place(self) -> str:
        return "/".join(part for part in (self._store.name, self._choice.prefix) if part)

    def _look_at(self, file: StoredFile) -> None:
        picked = self._choice.pick(file.path)
        if picked is None or self._is_young(file):
            return
        self._seen[file.path] = file
        if self._known.get(file.path) != file:
            self._new.append(Found(file, picked))

    def _is_young(self, file: StoredFile) -> bool:
        return self._min_age_millis > 0 and self._clock() * 1000 - file.modified_millis < self._min_age_millis
