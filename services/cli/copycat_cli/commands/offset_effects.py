"""What a change of offsets does, as a table; the same before a question and in a dry run."""

from __future__ import annotations

import msgspec

from copycat_cli.api.offsets import Moved, OffsetsEffect
from copycat_cli.output.blocks import Block, Lines, Table

COLUMNS = ("PARTITION", "BEFORE", "AFTER", "EFFECT")
TOPIC, NUMBER, OFFSET = "kafka_topic", "kafka_partition", "kafka_offset"
NONE = "none"


def effect_blocks(connector: str, effect: OffsetsEffect) -> list[Block]:
    """Return the table, its sums and the notes."""
    when = f" (to {effect.time})" if effect.time else ""
    table = Table(
        COLUMNS,
        [_row(moved) for moved in effect.offsets],
        title=f"What this would do to {connector}{when}:",
        empty=f"{connector} has no offsets that would move.",
    )
    notes = [f"Note: {note}." for note in effect.notes]
    return [table, Lines([*_sums(effect), *notes])]


def offset_text(tree: object) -> str:
    """Return a map of the connector's own as text."""
    return msgspec.json.encode(tree).decode()


def _row(moved: Moved) -> tuple[str, str, str, str]:
    partition = moved.partition
    shown = (
        f"{partition[TOPIC]}-{partition[NUMBER]}"
        if set(partition) == {TOPIC, NUMBER}
        else offset_text(partition)
    )
    return shown, _offset(moved.before), _offset(moved.after), moved.effect.text


def _offset(offset: dict[str, object] | None) -> str:
    if offset is None:
        return NONE
    return str(offset[OFFSET]) if set(offset) == {OFFSET} else offset_text(offset)


def _sums(effect: OffsetsEffect) -> list[str]:
    """Return what all partitions do together, where there are several and all are known."""
    effects = [moved.effect for moved in effect.offsets]
    units = {each.unit for each in effects}
    repeated = [each.repeated for each in effects if each.repeated is not None]
    skipped = [each.skipped for each in effects if each.skipped is not None]
    if len(effects) < 2 or len(units) != 1 or not len(repeated) == len(skipped) == len(effects):
        return []
    return [f"In all: repeats at most {sum(repeated)} and skips at most {sum(skipped)} {units.pop()}."]
