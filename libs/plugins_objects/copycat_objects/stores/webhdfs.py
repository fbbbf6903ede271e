"""HDFS as a store, over WebHDFS."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, Final, cast

from copycat_connect.errors import ConnectError

from copycat_objects.stores.errors import FileMissingError
from copycat_objects.stores.pieces import Body, Parts, answer_file, empty_file
from copycat_objects.stores.store import StoredFile, checked, parent
from copycat_objects.stores.webhdfs_calls import WebHdfs

PART_BYTES: Final = 8 << 20


class HdfsStore:
    """Files below one folder of HDFS; durable means that the DataNodes have them.

    Files are written in parts, each a call of its own, so that a file may stay open for hours.
    """

    shows_unclosed_files = True

    def __init__(self, calls: WebHdfs, part_size: int = PART_BYTES) -> None:
        """Use a NameNode; nothing is called yet."""
        self._calls = calls
        self._part_size = part_size

    @property
    def name(self) -> str:
        """The folder as an address."""
        return self._calls.name

    def create(self, path: str, *, replace: bool = False) -> HdfsFile:
        """Begin a file; it is there from its first part on. See the port."""
        return HdfsFile(self._calls, checked(path), self._part_size, replace=replace)

    def rename(self, source: str, target: str) -> None:
        """Give a file another path; see the port.

        Of HDFS's two ways to rename it is the one that never moves into a folder, and says why it refuses.
        """
        checked(source)
        doing = f"rename {source} to {checked(target)}"
        try:
            self._rename(source, target, doing)
        except FileMissingError:
            if self.find(source) is None:
                raise
            self._calls.ask("PUT", "MKDIRS", parent(target), f"make the folder of {target}")
            self._rename(source, target, doing)

    def list(self, folder: str = "") -> Iterator[StoredFile]:
        """Yield every file; the names of a large folder come in several answers. See the port."""
        waiting = [folder and checked(folder)]
        while waiting:
            here = waiting.pop()
            for found in self._entries(here):
                path = f"{here}/{found['pathSuffix']}" if here else str(found["pathSuffix"])
                if found["type"] == "DIRECTORY":
                    waiting.append(path)
                elif found["type"] == "FILE":
                    yield _stored(path, found)

    def has_folder(self, folder: str = "") -> bool:
        """Return whether a folder is there; see the port."""
        path = folder and checked(folder)
        try:
            answer = self._calls.ask("GET", "GETFILESTATUS", path, f"look at {folder or 'the root'}")
        except FileMissingError:
            return False
        return bool(answer["FileStatus"]["type"] == "DIRECTORY")

    def find(self, path: str) -> StoredFile | None:
        """Return the file at a path; see the port."""
        try:
            answer = self._calls.ask("GET", "GETFILESTATUS", checked(path), f"look at {path}")
        except FileMissingError:
            return None
        found = answer["FileStatus"]
        return _stored(path, found) if found["type"] == "FILE" else None

    def open(self, path: str, offset: int = 0) -> BinaryIO:
        """Open for reading; see the port."""
        doing = f"read {path}"
        found = self.find(path)
        if found is None:
            raise FileMissingError(f"Cannot {doing} in {self.name}: there is no such file")
        if offset >= found.size:
            return empty_file()
        answer = self._calls.move_content("GET", "OPEN", path, doing, offset=str(offset))
        return answer_file(cast("Body", answer.raw), lambda error: self._calls.failure(error, doing))

    def read(self, path: str, offset: int, length: int) -> bytes:
        """Return some bytes of a file; see the port."""
        with self.open(path, offset) as opened:
            return opened.read(length)

    def delete(self, path: str) -> None:
        """Remove a file; see the port."""
        self._calls.ask("DELETE", "DELETE", checked(path), f"delete {path}")

    def close(self) -> None:
        """Give back the connections."""
        self._calls.close()

    def _rename(self, source: str, target: str, doing: str) -> None:
        self._calls.ask(
            "PUT",
            "RENAME",
            source,
            doing,
            destination=self._calls.absolute(target),
            renameoptions="NONE",
        )

    def _entries(self, folder: str) -> Iterator[dict[str, Any]]:
        after: dict[str, str] = {}
        while True:
            try:
                answer = self._calls.ask(
                    "GET", "LISTSTATUS_BATCH", folder, f"list {folder or 'the root'}", **after
                )["DirectoryListing"]
            except FileMissingError:
                return
            entries = answer["partialListing"]["FileStatuses"]["FileStatus"]
            yield from entries
            if not answer["remainingEntries"] or not entries:
                return
            after = {"startAfter": str(entries[-1]["pathSuffix"])}


class HdfsFile:
    """A file that is being written: made with its first part, which the others are appended to."""

    def __init__(self, calls: WebHdfs, path: str, part_size: int, *, replace: bool) -> None:
        """Nothing is called before the first part is full."""
        self._calls = calls
        self._path = path
        self._replace = replace
        self._parts = Parts(part_size, self._send)
        self._made = False
        self._ended = False

    @property
    def size(self) -> int:
        """Bytes written so far."""
        return self._parts.size

    def write(self, content: bytes | memoryview) -> None:
        """Append bytes; see the port."""
        self._parts.write(content)

    def close(self) -> None:
        """Send what is left; see the port."""
        rest = self._parts.rest()
        if rest or not self._made:
            self._send(rest)
        self._ended = True

    def abort(self) -> None:
        """Remove what was sent; see the port."""
        if self._made and not self._ended:
            try:
                self._calls.ask("DELETE", "DELETE", self._path, f"delete {self._path}")
            except ConnectError:
                return  # a temporary file stays: its owner cleans up what was left
        self._ended = True

    def _send(self, part: bytes) -> None:
        doing = f"write {self._path}"
        if self._made:
            self._calls.move_content("POST", "APPEND", self._path, doing, part).close()
            return
        overwrite = "true" if self._replace else "false"
        self._calls.move_content("PUT", "CREATE", self._path, doing, part, overwrite=overwrite).close()
        self._made = True


def _stored(path: str, found: dict[str, Any]) -> StoredFile:
    return StoredFile(path, int(found["length"]), int(found["modificationTime"]))


def hdfs_store(web_url: str, root: str, user: str, name: str) -> HdfsStore:
    """Return the store below a folder; the arguments are those of `WebHdfs`."""
    return HdfsStore(WebHdfs(web_url, root, user, name))
