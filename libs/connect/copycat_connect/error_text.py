"""Words of an error, whatever its author did: they can be sent and stored, and to read them never fails.

Who reports an error has nothing left to report a further one with. So `text_of` raises nothing, and what it
returns can be encoded. `bounded` comes last: a secret that was cut in two could not be taken out any more.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

#: Kafka takes messages of a megabyte by default, and JSON writes some characters in six bytes.
MAX_CHARACTERS: Final = 100_000
_CAUSE: Final = "Caused by: "
#: Causes that are looked through for what is said of a record: one line has no place for more.
_FIRST_CAUSES: Final = 10
_OF_A_RECORD: Final = re.compile(r"Data(Exception|Error)\b")
_PACKAGES: Final = re.compile(r"^(\w+\.)+(?=\w+(:|$))")


def text_of(value: object) -> str:
    """Return what `str` makes of an error, or of whatever its author gave it for a text; raises nothing."""
    try:
        return writable(str(value))
    except BaseException as error:  # `__str__` of author code may raise anything
        return f"(its text cannot be read: {type(error).__qualname__})"


def said_by(error: BaseException) -> str:
    """Return an error's text with its class where that text alone says nothing: `sys.exit(3)` says `3`."""
    text = text_of(error)
    if isinstance(error, Exception):
        return text
    what = f"Code of a plugin raised {type(error).__qualname__}"
    return f"{what}: {text}" if text else what


def writable(text: str) -> str:
    """Return a text in UTF-8's characters: half of a surrogate pair and NUL are written as Python does."""
    return str.encode(text, "utf-8", "backslashreplace").decode().replace("\0", "\\x00")


def bounded(text: str, limit: int = MAX_CHARACTERS) -> str:
    """Return a text of at most so many characters: its beginning, how much is left out, and its end."""
    if len(text) <= limit:
        return text
    note = f"\n... {len(text)} characters in all, {limit} are kept ...\n"
    kept = max(limit - len(note), 0)
    end = kept // 2
    return text[: kept - end] + note + text[len(text) - end :]


def trace_line(trace: str) -> str:
    """Return the error of a trace (Java's first line, Python's last), and its causes that say more.

    These are the last one, and whatever is said of a record: where it is, and which of its fields is wrong.
    """
    lines = trace.strip().splitlines() or [""]
    error = lines[-1] if lines[0].startswith("Traceback") else lines[0]
    causes = [_PACKAGES.sub("", line.removeprefix(_CAUSE)) for line in lines if line.startswith(_CAUSE)]
    said = [_PACKAGES.sub("", error), *filter(_OF_A_RECORD.match, causes[:-1][:_FIRST_CAUSES]), *causes[-1:]]
    new = [each for place, each in enumerate(said) if not _is_quoted(each, said[:place])]
    return "; caused by ".join(dict.fromkeys(new))  # an error that was raised anew is its own cause


def _is_quoted(cause: str, before: Sequence[str]) -> bool:
    """Return whether what is said of a record stands in what was said before."""
    text = cause.partition(": ")[2]
    return bool(text and _OF_A_RECORD.match(cause)) and any(text in each for each in before)


def shortened(text: str, limit: int) -> str:
    """Return a text in one line of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 3]}..."
