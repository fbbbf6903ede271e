"""Checks of the source offsets that users set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from copycat_connect.errors import ConnectError
from copycat_connect.plugin.contexts import SourceOffset, SourcePartition

OFFSET = "offset"


def check_offsets(
    offsets: Sequence[tuple[SourcePartition | None, SourceOffset | None]],
    texts: Iterable[str],
    number: str | None,
    *,
    only_zero: bool = False,
) -> None:
    """Refuse source partitions and offsets that no task would understand; forgetting is always allowed.

    Args:
        offsets: Source partitions with their new offsets.
        texts: The keys of a source partition with a text.
        number: Its key with a partition of Kafka; None for no such key.
        only_zero: Whether the offset says nothing and is always 0.

    Raises:
        ConnectError: One is wrong.
    """
    for partition, offset in offsets:
        if offset is None:
            continue
        if partition is None:
            raise ConnectError("Source partitions may not be null")
        for key in texts:
            if not isinstance(_given(partition, key), str):
                raise ConnectError(
                    f"Source partition {dict(partition)} has an invalid value for '{key}': it must be a text"
                )
        if number is not None:
            _check_number(_given(partition, number), f"Source partition {dict(partition)}", number)
        _check_offset(partition, offset, only_zero=only_zero)


def _check_offset(partition: SourcePartition, offset: SourceOffset, *, only_zero: bool) -> None:
    where = f"The offset of source partition {dict(partition)}"
    if OFFSET not in offset:
        raise ConnectError(f"{where} is missing the '{OFFSET}' key, which is required")
    _check_number(offset[OFFSET], where, OFFSET)
    if only_zero and offset[OFFSET] != 0:
        raise ConnectError(f"{where} must be 0: it has no meaning, nothing else is ever stored")


def _given(partition: SourcePartition, key: str) -> object:
    if partition.get(key) is None:
        raise ConnectError(
            f"Source partition {dict(partition)} is missing the '{key}' key, which is required"
        )
    return partition[key]


def _check_number(value: object, where: str, key: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ConnectError(f"{where} has an invalid value for '{key}': it must be a whole number, 0 or more")
