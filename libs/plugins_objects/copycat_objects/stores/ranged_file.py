"""A file of a store that can be read at any place, for formats whose directory stands at the end."""

from __future__ import annotations

import io

from copycat_objects.stores.store import Store


class RangedFile(io.RawIOBase):
    """Asks the store for each piece that is read, and keeps none."""

    def __init__(self, store: Store, path: str, size: int) -> None:
        """Begin at the start of a file of this size."""
        self._store = store
        self._path = path
        self._size = size
        self._place = 0

    def readable(self) -> bool:
        """Say that it is for reading."""
        return True

    def seekable(self) -> bool:
        """Say that any place may be read."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place; nothing is read."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[whence]
        self._place = max(start + offset, 0)
        return self._place

    def tell(self) -> int:
        """Return the place."""
        return self._place

    def size(self) -> int:
        """Return the size in bytes, as Arrow asks for it."""
        return self._size

    def read(self, size: int | None = -1) -> bytes:
        """Return the next bytes, all there are to the end where no number is given."""
        left = max(self._size - self._place, 0)
        length = left if size is None or size < 0 else min(size, left)
        found = self._store.read(self._path, self._place, length) if length else b""
        self._place += len(found)
        return found

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]  # what io calls it with
        """Fill a buffer as far as the file goes."""
        view = memoryview(buffer)
        found = self.read(len(view))
        view[: len(found)] = found
        return len(found)
