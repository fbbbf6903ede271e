"""Folders by the contents of fields."""

from __future__ import annotations

from collections.abc import Sequence

from copycat_connect.data import ConnectValue, TopicPartition
from copycat_connect.errors import DataError

from copycat_plugins.connectors.objects.names import checked_folder
from copycat_plugins.connectors.objects.partitioners.partitioner import Report
from copycat_plugins.connectors.objects.partitioners.times import field_of
from copycat_plugins.connectors.objects.records import Records


class FieldPartitioner:
    """`<field>=<content>` for each field, one in the other."""

    def __init__(self, fields: Sequence[str]) -> None:
        """Use these fields."""
        self._fields = fields

    def folders(
        self, partition: TopicPartition, records: Records, times: Sequence[int] | None, report: Report
    ) -> Sequence[str | None]:
        """Return the folder of each; see the port."""
        del partition, times
        known: dict[tuple[ConnectValue, ...], str] = {}
        found: list[str | None] = []
        for place, value in enumerate(records.values):
            try:
                contents = tuple(field_of(value, name, "partition.field.name") for name in self._fields)
                key = (*contents, *map(type, contents))
                folder = known.get(key)
                if folder is None:
                    folder = known[key] = checked_folder(self._folder(contents))
                found.append(folder)
            except DataError as error:
                report(records, place, error)
                found.append(None)
            except TypeError as error:
                report(records, place, DataError(f"Error encoding partition: {error}"))
                found.append(None)
        return found

    def _folder(self, contents: Sequence[ConnectValue]) -> str:
        return "/".join(
            f"{name}={_text(name, content)}" for name, content in zip(self._fields, contents, strict=True)
        )


def _text(name: str, content: ConnectValue) -> str:
    match content:
        case bool():
            return "true" if content else "false"
        case None:
            return "null"
        case int() | str():
            return str(content)
    message = (
        f"Error encoding partition: the field {name} holds a {type(content).__name__}; "
        "'partition.field.name' takes "
        "fields of integers, strings and booleans"
    )
    raise DataError(message)
