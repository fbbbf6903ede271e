"""Words of an error, whatever its author did: they can be sent and stored, and to read them never fails.

Who reports an error has nothing left to report a further one with. So `text_of` raises nothing, and what it
returns can be encoded. `bounded` comes last: a secret that was cut in two could not be taken out any more.
"""

from __future__ import annotations

import re
from typing import Final

#: Kafka takes messages of a megabyte by default, and JSON writes some characters in six bytes.
MAX_CHARACTERS: Final = 100_000
_CAUSE: Final = "Caused by: "
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
    """Return the error of a trace (Java's first line, Python's last), and its last cause if it says more."""
    lines = trace.strip().splitlines() or [""]
    error = lines[-1] if lines[0].startswith("Traceback") else lines[0]
    causes = [line.removeprefix(_CAUSE) for line in lines if line.startswith(_CAUSE)]
    said = [_PACKAGES.sub("", each) for each in (error, *causes[-1:])]
    return "; caused by ".join(dict.fromkeys(said))  # an error that was raised anew is its own cause


def shortened(text: str, limit: int) -> str:
    """Return a text in one line of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 3]}..."
