"""Calls about offsets that change nothing: what moves would do, and which offsets are of a time."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from copycat_connect.errors import ConnectError
from copycat_connect.plugin import PluginKind
from copycat_connect.plugin import offset_moves as author

from copycat_executor.connectorhost.questions import Question, from_json
from copycat_executor.pipes.connector_messages import (
    ExplainOffsets,
    FindOffsets,
    OffsetEffect,
    SourceOffset,
)

EXPLAINING = "asking what a change of offsets would do of connector"
FINDING = "asking for the offsets of a time of connector"


def explained(question: Question, wanted: ExplainOffsets) -> tuple[OffsetEffect | None, ...] | None:
    """Ask a source connector what moves would do.

    Raises:
        ConnectError: It answered for more or fewer moves than it was asked about.
    """
    kind, connector, given = question.connector(wanted.config, EXPLAINING)
    if kind is not PluginKind.SOURCE:
        return None
    moves = [
        author.OffsetMove(from_json(move.partition), from_json(move.before), from_json(move.after))
        for move in wanted.moves
    ]
    effects = connector.explain_offsets(given, moves)
    if effects is None:
        return None
    if len(effects) != len(moves):
        raise ConnectError(
            f"explain_offsets told {len(effects)} effects of {len(moves)} moves: one of each is wanted"
        )
    return tuple(
        None if effect is None else OffsetEffect(effect.repeated, effect.skipped, effect.unit)
        for effect in effects
    )


def found(question: Question, wanted: FindOffsets) -> tuple[SourceOffset, ...] | None:
    """Ask a source connector for its offsets of a time."""
    kind, connector, given = question.connector(wanted.config, FINDING)
    if kind is not PluginKind.SOURCE:
        return None
    offsets = [(from_json(each.partition), from_json(each.offset)) for each in wanted.offsets]
    there = connector.find_offsets(given, offsets, datetime.fromtimestamp(wanted.time / 1000, UTC))
    if there is None:
        return None
    texts = {_key(each.partition): each.partition for each in wanted.offsets}
    answers = []
    for partition, offset in there:
        written = _compact(partition)
        # The bytes of a partition are its identity: those of a known one are kept.
        kept = texts.get(_key(written), written)
        answers.append(SourceOffset(kept, None if offset is None else _compact(offset)))
    return tuple(answers)


def _compact(tree: object) -> str:
    return json.dumps(tree, ensure_ascii=False, separators=(",", ":"))


def _key(text: str) -> str:
    return json.dumps(json.loads(text), sort_keys=True)
