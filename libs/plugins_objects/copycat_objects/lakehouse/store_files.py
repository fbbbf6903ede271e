"""Where files of a table are in a store; and those of HDFS, which pyiceberg does not reach by itself."""

from __future__ import annotations

from typing import Final, cast

from copycat_connect.errors import ConnectError
from pyiceberg.io import PY_IO_IMPL, FileIO, InputFile, InputStream, OutputFile
from pyiceberg.typedef import Properties

from copycat_objects.stores.ranged_file import RangedFile
from copycat_objects.stores.store import Store, checked, path_of

_STORE: Final = "copycat.store"
_HDFS: Final = frozenset({"hdfs", "webhdfs"})
_LOCAL: Final = frozenset({"file", ""})


def path_in(store: Store, folder: str, address: str) -> str:
    """Return where a file of a table is in a store, given its address.

    Raises:
        ConnectError: It is not below the folder there.
    """
    root, path = path_of(store.name).rstrip("/"), path_of(address)
    start = f"{root}/{folder}".rstrip("/")
    schemes = _HDFS if _scheme(store.name) in _HDFS else _LOCAL
    if _scheme(address) not in schemes or not path.startswith(f"{start}/"):
        kind = "hdfs://host:port/folder" if schemes is _HDFS else "file:///folder"
        raise ConnectError(
            f"The table has files outside of {start}, such as {address}: set store.url, and prefix, or the "
            f"url of a table that is joined, to a folder {kind} that has them all"
        )
    return checked(path.removeprefix(root).lstrip("/"))


def _scheme(address: str) -> str:
    return address.removesuffix(path_of(address)).partition(":")[0]


class StoreFiles(FileIO):
    """Reads files of a store by their addresses, and writes none."""

    @classmethod
    def properties_of(cls, store: Store) -> Properties:
        """Return the properties with which a catalog reads its files in a store; none where it can itself."""
        if _scheme(store.name) not in _HDFS:
            return {}
        return {PY_IO_IMPL: f"{cls.__module__}.{cls.__qualname__}", _STORE: store}

    def new_input(self, location: str) -> InputFile:
        """Return a file, which need not be there."""
        store: Store = self.properties[_STORE]
        return _StoredInput(store, location)

    def new_output(self, location: str) -> OutputFile:
        """Raise ConnectError: whoever follows or joins a table has nothing to write there."""
        raise ConnectError(f"{location} cannot be written: files of tables are only read here")

    def delete(self, location: str | InputFile | OutputFile) -> None:
        """Raise ConnectError, as for writing."""
        raise ConnectError(f"{location} cannot be deleted: files of tables are only read here")


class _StoredInput(InputFile):
    """A file of a store."""

    def __init__(self, store: Store, location: str) -> None:
        super().__init__(location)
        self._store, self._path = store, path_in(store, "", location)

    def __len__(self) -> int:
        found = self._store.find(self._path)
        if found is None:
            raise FileNotFoundError(f"There is no file {self.location}")
        return found.size

    def exists(self) -> bool:
        return self._store.find(self._path) is not None

    def open(self, seekable: bool = True) -> InputStream:
        del seekable
        return cast("InputStream", RangedFile(self._store, self._path, len(self)))
