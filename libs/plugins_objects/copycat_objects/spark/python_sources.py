"""Python data sources of Spark: classes that others derive from `pyspark.sql.datasource.DataSource`.

The partitions that a reader gives are units. One is known by its text (`repr`), as a file is by its path: the
source partition {source, partition} has the offset {record, done}. Spark plans and reads each alone, by a
class derived from the source whose reader has that one partition.

PySpark is not imported here: whoever derives a class from its own has done that.
"""

from __future__ import annotations

import base64
import hashlib
import pickle
import re
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final

from copycat_connect.errors import ConfigError, ConnectError
from copycat_connect.plugin import SparkUnit
from copycat_connect.plugin.contexts import SourceOffset, SourcePartition

from copycat_objects.source.settings import DONE, RECORD

SOURCE, PARTITION = "source", "partition"
"""Keys of the source partition."""
CLASS_PATH: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)+")
"""How a class is named: package.module.Class."""
_BASE: Final = ("pyspark.sql.datasource", "DataSource")
_TYPES: Final = "pyspark.sql.types"
#: The option, in lower case as Spark has them, with which a derived class gets its partition.
_OPTION: Final = "copycat.partition"
#: What texts have where a class does not say what its objects stand for.
_ADDRESS: Final = re.compile(r" at 0x[0-9a-f]+")
#: Longer texts are cut, and end with a digest.
_MAX_TEXT: Final = 500


@dataclass(frozen=True, slots=True)
class SourcePart:
    """A partition of a source: the content of a unit."""

    topic: str
    """Where its records go."""
    pickled: bytes = field(repr=False)
    """The reader's InputPartition."""

    def record(self, offset: SourceOffset | None) -> int:
        """Return how many of its records are committed."""
        return 0 if offset is None else int(offset[RECORD])

    def behind(self, record: int, *, done: bool = False) -> dict[str, int | bool]:
        """Return the offset behind so many records."""
        return {RECORD: record, DONE: done}


class PythonSource:
    """Plans and reads the partitions of a source (`CountedRows`)."""

    def __init__(self, name: str, options: Mapping[str, str], topic: str, *, poll_seconds: float) -> None:
        """Load nothing yet.

        Args:
            name: The class, package.module.Class.
            options: What it gets.
            topic: Where records go.
            poll_seconds: How long to wait between two looks for new partitions.
        """
        self._name, self._options, self._topic = name, dict(options), topic
        self._poll_seconds, self._next_look = poll_seconds, 0.0
        self._planned: set[str] = set()
        self._lock, self._format = threading.Lock(), ""

    def plan(self, offset: Callable[[SourcePartition], SourceOffset | None]) -> list[SparkUnit]:
        """Return the partitions that were not returned before, in the reader's order; see `CountedRows`.

        Raises:
            ConnectError: It is not known which partition is which.
        """
        del offset
        if time.monotonic() < self._next_look:
            return []
        units, texts = list[SparkUnit](), set[str]()
        for part in self._partitions():
            said = repr(part)
            text = _shortened(said)
            if _ADDRESS.search(said) or text in texts:
                raise ConnectError(
                    f"Partitions of {self._name} cannot be known again by their texts, such as {said[:100]}: "
                    "give the class of its partitions a __repr__ that says what each stands for"
                )
            texts.add(text)
            if text not in self._planned:
                content = SourcePart(self._topic, pickle.dumps(part))
                name = f"{text} of {self._name}"
                units.append(SparkUnit({SOURCE: self._name, PARTITION: text}, name, content, is_whole=True))
        self._planned |= texts
        self._next_look = time.monotonic() + self._poll_seconds
        return units

    def frame(self, session: Any, content: SourcePart) -> Any:  # noqa: ANN401 - PySpark's
        """Return the rows of a partition; see `CountedRows`."""
        with self._lock:
            if not self._format:
                derived = _of_one_partition(load_source(self._name))
                session.dataSource.register(derived)
                self._format = derived.name()
        encoded = base64.b64encode(content.pickled).decode()
        return session.read.format(self._format).options(**self._options, **{_OPTION: encoded}).load()

    def is_done(self, content: SourcePart, offset: SourceOffset | None) -> bool:
        """Return whether all of a partition is committed; see `CountedRows`."""
        del content
        return offset is not None and bool(offset[DONE])

    def end_of(self, content: SourcePart, offset: SourceOffset | None) -> SourceOffset:
        """Return the offset at the end of a partition; see `CountedRows`."""
        return content.behind(content.record(offset), done=True)

    def _partitions(self) -> list[Any]:
        """Ask the reader, as Spark does."""
        found = load_source(self._name)
        pyspark = sys.modules[_BASE[0]]
        options = pyspark.CaseInsensitiveDict()
        options.update(self._options)
        source = found(options)
        schema = source.schema()
        if isinstance(schema, str):
            schema = sys.modules[_TYPES].StructType.fromDDL(schema)
        reader = source.reader(schema)
        try:
            return list(reader.partitions()) or [pyspark.InputPartition(None)]
        except NotImplementedError:
            return [pyspark.InputPartition(None)]


def load_source(name: str) -> Any:  # noqa: ANN401 - PySpark's
    """Return a class by its name.

    Raises:
        ConfigError: The class is missing, or no source.
    """
    module, _, attribute = name.rpartition(".")
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ConfigError(
            f"Invalid value {name} for configuration format: this worker has no such Python class ({error}): "
            "install the package that has it, for the workers and on the machines of the Spark cluster",
            key="format",
        ) from error
    bases = getattr(found, "__mro__", ())[1:]
    if not any((each.__module__, each.__name__) == _BASE for each in bases):
        raise ConfigError(
            f"Invalid value {name} for configuration format: it is not derived from {'.'.join(_BASE)}",
            key="format",
        )
    return found


def check_part_offset(partition: Mapping[str, Any] | None, offset: SourceOffset | None) -> None:
    """Accept the offset of a partition of a source.

    Raises:
        ConnectError: It is malformed.
    """
    if (
        partition is None
        or set(partition) != {SOURCE, PARTITION}
        or not all(isinstance(each, str) for each in partition.values())
    ):
        raise ConnectError(f"The partition has the keys '{SOURCE}' and '{PARTITION}', both Strings")
    if offset is None:
        return
    record, done = offset.get(RECORD), offset.get(DONE)
    is_number = isinstance(record, int) and not isinstance(record, bool) and record >= 0
    if set(offset) != {RECORD, DONE} or not is_number or not isinstance(done, bool):
        raise ConnectError(
            f"The offset has the keys '{RECORD}', a number from 0 up, and '{DONE}', true or false"
        )


def _of_one_partition(source: Any) -> Any:  # noqa: ANN401 - PySpark's
    """Derive a source whose reader has the one partition that an option gives.

    Spark takes the class to other processes by value.
    """

    def begin(self: Any, options: Any) -> None:  # noqa: ANN401
        given = options.copy()
        self.copycat_partition = given.pop(_OPTION)
        source.__init__(self, given)

    def reader(self: Any, schema: Any) -> Any:  # noqa: ANN401
        found = source.reader(self, schema)
        part = pickle.loads(base64.b64decode(self.copycat_partition))  # noqa: S301 - the driver made it
        found.partitions = lambda: [part]
        return found

    name = f"copycat_{source.__module__}_{source.__name__}".replace(".", "_").lower()
    return type(
        "OnePartition", (source,), {"__init__": begin, "reader": reader, "name": classmethod(lambda _: name)}
    )


def _shortened(text: str) -> str:
    if len(text) <= _MAX_TEXT:
        return text
    return f"{text[: _MAX_TEXT - 65]} {hashlib.sha256(text.encode()).hexdigest()}"
