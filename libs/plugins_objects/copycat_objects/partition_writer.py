"""Writes the records of one topic-partition to files, and commits these."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from copycat_connect.data import ConnectValue, Schema, TopicPartition
from copycat_connect.errors import DataError

from copycat_objects.formats.format import Format
from copycat_objects.names import checked_folder
from copycat_objects.publication import Publication
from copycat_objects.records import RecordColumns, is_uniform
from copycat_objects.settings import SinkSettings, projected
from copycat_objects.staging import StagedFile

Project = Callable[[RecordColumns], list[ConnectValue]]
Report = Callable[[RecordColumns, int, DataError], None]
Place = tuple[str, str]


class OpenFile:
    """Values of one schema, of one topic-partition, in one folder."""

    def __init__(self, staged: StagedFile, format: Format, schema: Schema | None, first: int) -> None:
        """Begin it.

        Args:
            staged: Takes the bytes.
            format: How they are made.
            schema: Schema of all values.
            first: Offset of the first record.

        Raises:
            DataError: The format has nothing for the schema.
        """
        self._staged = staged
        self._writer = format.writer(staged, schema)
        self.first = first
        self.last = first
        self.count = 0

    @property
    def size(self) -> int:
        """About how many bytes it has."""
        return self._staged.size + self._writer.waiting

    def write(self, records: RecordColumns, project: Project, report: Report) -> None:
        """Append records; those that cannot be written are reported."""
        try:
            self._writer.write(project(records))
        except DataError as error:
            if len(records) == 1:
                report(records, 0, error)
                return
            half = len(records) // 2
            self.write(records.at(slice(half)), project, report)
            self.write(records.at(slice(half, None)), project, report)
            return
        self.count += len(records)
        self.last = records.offsets[-1]

    def seal(self) -> str:
        """Make it complete and durable, still out of sight; returns what publishes it."""
        self._writer.finish()
        return self._staged.seal()

    def abort(self) -> None:
        """Delete what was written: nobody has seen it."""
        self._staged.abort()


class PartitionWriter:
    """Files of one topic-partition: open, or sealed until the next commit."""

    def __init__(
        self,
        partition: TopicPartition,
        settings: SinkSettings,
        publication: Publication,
        report: Report,
        clock: Callable[[], float],
    ) -> None:
        """Compose; `report` takes records that cannot be written, `clock` returns s since 1970."""
        self._partition = partition
        self._settings = settings
        self._publication = publication
        self._report = report
        self._clock = clock
        self._files: dict[Place, OpenFile] = {}
        self._sealed: list[tuple[str, str]] = []
        self._count = 0
        self._schema: Schema | None = None
        self._first_time: int | None = None
        self._folder: str | None = None
        self._deadline = float("inf")
        self.committed: int | None = None
        """Offset of the first record that is in no committed file; None before anything is known."""
        self._sealed_to: int | None = None
        self._taken: int | None = None

    @property
    def has_sealed(self) -> bool:
        """True while sealed files wait for their commit."""
        return bool(self._sealed)

    @property
    def reached(self) -> int | None:
        """Offset of the first record that is neither in a committed file nor left out; None: not known."""
        return self.committed if self._files or self._sealed else self._taken

    def claim(self) -> int | None:
        """Take over the partition from its writer, and drop what is not committed; returns where to go on.

        Raises:
            ConnectError: It cannot be had now.
        """
        self.drop()
        self.committed = self._taken = None
        self.committed = self._taken = self._publication.claim()
        return self.committed

    def put(self, records: RecordColumns, choose: Callable[[RecordColumns], RecordColumns]) -> None:
        """Write those of the records that are chosen and were not taken yet."""
        taken = self._taken
        if taken is not None and records.offsets[0] < taken:
            records = records.where([offset >= taken for offset in records.offsets])
        if not records:
            return
        if self.committed is None:
            self.committed = records.offsets[0]
        last = records.offsets[-1]
        self._write_all(choose(records))
        self._taken = last + 1

    def _write_all(self, records: RecordColumns) -> None:
        if not records:
            return
        now = int(self._clock() * 1000)
        records, times = self._settings.times.of(records, now, self._report)
        start = 0
        for schema, count in _runs(records.schemas):
            run = slice(start, start + count)
            self._put_run(schema, records.at(run), times[run])
            start += count

    def _put_run(self, schema: Schema | None, records: RecordColumns, times: Sequence[int]) -> None:
        try:
            if self._count and self._settings.compatibility.rotates(self._schema, schema):
                self.seal()
        except DataError as error:
            for place in range(len(records)):
                self._report(records, place, error)
            return
        folders = self._settings.partitioner.folders(self._partition, records, times, self._report)
        rotation = self._settings.rotation
        start = 0
        while start < len(records):
            cut = min(len(records), start + rotation.records - self._count)
            cut = rotation.cut(times, start, cut, self._first_time)
            cut = rotation.cut_folders(folders, start, cut, self._folder)
            if cut == start:
                self.seal()
                continue
            part = slice(start, cut)
            self._write(
                schema,
                records.at(part),
                times[start],
                folders if isinstance(folders, str) else folders[part],
            )
            start = cut
            if self._is_full():
                self.seal()

    def _write(
        self, schema: Schema | None, records: RecordColumns, time: int, folders: str | Sequence[str | None]
    ) -> None:
        if not self._count:
            self._schema = schema
            self._first_time = time
            self._deadline = self._settings.rotation.deadline(self._clock())
        if isinstance(folders, str) and is_uniform(records.topics):
            self._append((records.topics[0], folders), schema, records)
            return
        each = [folders] * len(records) if isinstance(folders, str) else folders
        places: dict[Place, list[int]] = {}
        for place, (topic, folder) in enumerate(zip(records.topics, each, strict=True)):
            if folder is not None:
                places.setdefault((topic, folder), []).append(place)
        for found, members in places.items():
            self._append(found, schema, records.at(members))

    def _append(self, place: Place, schema: Schema | None, records: RecordColumns) -> None:
        file = self._files.get(place)
        try:
            if file is None:
                file = self._files[place] = self._begin(place, records.offsets[0])
        except DataError as error:
            for each in range(len(records)):
                self._report(records, each, error)
            return
        self._folder = place[1]
        before = file.count
        file.write(records, lambda some: projected(schema, some.values, self._schema), self._report)
        self._count += file.count - before

    def _begin(self, place: Place, first: int) -> OpenFile:
        settings = self._settings
        checked_folder(place[1])
        staged = self._publication.begin(*place, first)
        try:
            return OpenFile(staged, settings.format, self._schema, first)
        except DataError:
            staged.abort()
            raise

    def _is_full(self) -> bool:
        rotation = self._settings.rotation
        if self._count >= rotation.records:
            return True
        return 0 < rotation.bytes <= sum(file.size for file in self._files.values())

    def rotate_by_clock(self) -> None:
        """Seal files whose time is over, though no more records come."""
        if self._count and self._clock() >= self._deadline:
            self.seal()

    def seal(self) -> None:
        """Make the open files complete; they appear at the next commit."""
        settings = self._settings
        for (topic, folder), file in self._files.items():
            if file.count:
                offsets = (file.first, file.last)
                path = settings.layout.file(
                    topic, folder, self._partition, offsets, settings.format.extension
                )
                self._sealed.append((file.seal(), path))
            else:
                file.abort()
        last = max((file.last for file in self._files.values() if file.count), default=None)
        self._sealed_to = self._sealed_to if last is None else last + 1
        self._files.clear()
        self._count, self._first_time, self._folder, self._deadline = 0, None, None, float("inf")

    def commit(self) -> None:
        """Make sealed files appear, together with how far they reach.

        Raises:
            ConnectError: It is not known whether they did: claim the partition again.
        """
        if not self._sealed:
            return
        self._publication.commit(self._sealed_to, self._sealed)
        self.committed = self._sealed_to
        self._sealed.clear()

    def drop(self) -> None:
        """Drop what is not committed."""
        for file in self._files.values():
            file.abort()
        self._files.clear()
        self._sealed.clear()
        self._count, self._first_time, self._folder, self._deadline = 0, None, None, float("inf")
        self._taken = self.committed


def _runs(schemas: Sequence[Schema | None]) -> Iterator[tuple[Schema | None, int]]:
    """Yield the schemas of records that follow each other, with how many those are."""
    if schemas and is_uniform(schemas):
        yield schemas[0], len(schemas)
        return
    for schema, run in groupby(schemas):
        yield schema, sum(1 for _ in run)
