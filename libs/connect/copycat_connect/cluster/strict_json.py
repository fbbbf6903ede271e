"""JSON text that every part of a cluster can read and write again, whoever wrote it.

Python's reader takes more than that: `NaN`, numbers that no float holds, halves of surrogate pairs, which no
UTF-8 and no message can carry on, and texts so deep that the next reader of them runs out of its stack.
"""

from __future__ import annotations

import json
import math
import re
from typing import Final, NoReturn

#: Offsets are flat and configurations have two levels; the deepest thing in any topic has five.
MAX_DEPTH: Final = 64
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")


def _finite(number: str) -> float:
    if math.isinf(found := float(number)):
        raise ValueError("a number is too large")
    return found


#: Built once: the commit of 100 000 partitions reads as many texts, and so does a fold of them.
_DECODER: Final = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite)


def read_strict_json(text: bytes) -> object:
    """Return what one JSON text says.

    Raises:
        ValueError: It is not JSON in UTF-8, or cannot be carried on; the error says why, without the text.
    """
    try:
        found = _DECODER.decode(text.decode())
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8 from byte {error.start} on") from error
    except RecursionError as error:
        raise _too_deep() from error
    if text.count(b"[") + text.count(b"{") > MAX_DEPTH:
        _check_depth(found)
    if _SURROGATE.search(text):
        _check_text(found)
    return found


def _check_depth(found: object) -> None:
    level, depth = [found], 0
    while level:
        if depth > MAX_DEPTH:
            raise _too_deep()
        below: list[object] = []
        for each in level:
            if isinstance(each, dict):
                below += each.values()
            elif isinstance(each, list):
                below += each
        level, depth = below, depth + 1


def _too_deep() -> ValueError:
    return ValueError(f"it is nested more than {MAX_DEPTH} levels deep")


def _check_text(found: object) -> None:
    try:
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ValueError("a text in it has half of a surrogate pair") from error
