"""Records of a log from which no event can be read: a line for each, without values, which may be secret."""

from __future__ import annotations

import logging
from typing import Final

from copycat_telemetry.changes import log_change

#: More of a key is no use to anybody; it is what another program wrote.
MAX_KEY_CHARACTERS: Final = 300


def log_ignored(logger: logging.Logger, topic: str, key: bytes, why: object) -> None:
    """Log a record that changes nothing: nobody can say what it is about.

    Args:
        logger: Whose level decides.
        topic: The topic's purpose, such as `config`.
        key: The record's key.
        why: What is wrong, without the value.
    """
    log_change(logger, "record ignored", logging.WARNING, topic=topic, key=_text(key), why=str(why))


def log_taken_for_tombstone(logger: logging.Logger, topic: str, key: bytes, why: object) -> None:
    """Log a record whose key can be read and whose value cannot: it forgets what was known under the key.

    It replaced what was there, so compaction would forget the older record too (L1). The arguments are those
    of `log_ignored`.
    """
    log_change(
        logger, "record taken for a tombstone", logging.ERROR, topic=topic, key=_text(key), why=str(why)
    )


def _text(key: bytes) -> str:
    return repr(key)[:MAX_KEY_CHARACTERS]
