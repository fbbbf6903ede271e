"""What Kafka's own connectors for system tests have in common: numbered tasks, and lines of JSON.

A source offset is the number of a task's last record: `{id}` to `{seqno}`. What happened to each record is
printed on the standard output.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Iterable, Mapping, Sequence

from copycat_connect.config import ConfigDef
from copycat_connect.data import ConnectValue
from copycat_connect.errors import ConnectError
from copycat_connect.plugin import SourceConnector
from copycat_connect.plugin.contexts import SourceOffset, SourcePartition, SourceTaskContext

ID = "id"
"""The key of a source partition, and of a task's configuration: the task's number."""
SEQNO = "seqno"
"""The key of a source offset: the number of the last record."""


def numbered(config: Mapping[str, str], count: int) -> list[dict[str, str]]:
    """Return a configuration for each of so many tasks: the connector's, and the task's number."""
    return [{**config, ID: str(number)} for number in range(count)]


def number_of(config: Mapping[str, str]) -> int:
    """Return the number in a task's configuration.

    Raises:
        ConnectError: It is missing; the connector sets it.
    """
    number = config.get(ID, "")
    if not number.isdecimal():
        raise ConnectError(
            f"The task's configuration needs its number as 'id', which the connector sets; got {number!r}"
        )
    return int(number)


def next_seqno(context: SourceTaskContext, partition: SourcePartition) -> int:
    """Return the number of the first record that is not committed, from 0.

    Raises:
        ConnectError: The committed offset is not of these connectors.
    """
    offset = context.offset(partition)
    if offset is None:
        return 0
    _check_offset(offset)
    seqno: int = offset[SEQNO]
    return seqno + 1


def check_offsets(offsets: Iterable[tuple[SourcePartition | None, SourceOffset | None]]) -> None:
    """Accept any task's number with the number of a record.

    Raises:
        ConnectError: A partition or an offset is of another shape.
    """
    for partition, offset in offsets:
        if offset is None:
            continue  # what is forgotten begins at 0
        _check_partition(partition)
        _check_offset(offset)


class NumberedSource(SourceConnector):
    """Has as many tasks as are allowed."""

    definition: ConfigDef
    """The connector's keys."""

    def __init__(self) -> None:
        self._config: dict[str, str] = {}

    def start(self, config: Mapping[str, str]) -> None:
        """Check the configuration and keep it."""
        self.definition.parse(config)
        self._config = dict(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Return as many configurations as are allowed, each with its number."""
        return numbered(self._config, max_tasks)

    def stop(self) -> None:
        """Do nothing: the connector itself holds no resources."""

    def alter_offsets(
        self,
        config: Mapping[str, str],
        offsets: Sequence[tuple[SourcePartition | None, SourceOffset | None]],
    ) -> bool:
        """Accept any task's number with the number of its last record."""
        del config
        check_offsets(offsets)
        return True


def print_json(*lines: Mapping[str, ConnectValue]) -> None:
    """Print each mapping on a line of its own, written as Jackson does; all of them at once.

    What cannot be written as JSON becomes a line that says so, and is no JSON.
    """
    print_line(*map(_line, lines))


def print_line(*lines: str) -> None:
    """Print each text on a line of its own, all of them at once; none is left out, however many there are."""
    out = getattr(sys.stdout, "unlimited", sys.stdout)  # a worker bounds what other plugins print
    out.write("".join(f"{line}\n" for line in lines))
    out.flush()


def _check_partition(partition: SourcePartition | None) -> None:
    if partition is None or partition.keys() != {ID} or not _is_count(partition[ID]):
        shape = "null" if partition is None else _shape(list(partition))
        raise ConnectError(f'A source partition is the number of a task, such as {{"id": 0}}; got {shape}')


def _check_offset(offset: SourceOffset) -> None:
    if not _is_count(offset.get(SEQNO)):
        raise ConnectError(
            'A source offset is the number of the last record, from 0, such as {"seqno": 41}; '
            f"got {_shape(list(offset))}"
        )


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _shape(keys: Sequence[str]) -> str:
    return f"the keys {keys}, one with another kind of value" if keys else "no keys"


def _line(data: Mapping[str, ConnectValue]) -> str:
    try:
        return json.dumps(data, separators=(",", ":"), ensure_ascii=False, default=_plain)
    except (TypeError, ValueError) as error:
        return f"Bad data can't be written as json: {error}"


def _plain(value: ConnectValue) -> str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeError(f"no JSON for a {type(value).__name__}")
