"""Messages as lines and back: compact JSON, one message a line, which ends with a line feed."""

from __future__ import annotations

from functools import cache
from typing import Any, Final, Generic, TypeVar, cast, get_args

import msgspec

from copycat_executor.pipes.messages import Call, PipeMessage, T, UnreadResult

#: The executor reads no longer line from a child process.
MAX_LINE_BYTES: Final = 64 * 1024 * 1024

M = TypeVar("M")

_ENCODER: Final = msgspec.json.Encoder()


class BadLineError(ValueError):
    """A line, or the result in it, is not what was agreed; the text shows types and places, never values."""


def to_line(message: PipeMessage) -> bytes:
    """Write a message as one line."""
    return _ENCODER.encode_lines((message,))


class LineReader(Generic[M]):
    """Reads the lines of one direction of one conversation."""

    def __init__(self, messages: object) -> None:
        """Keep the type of its messages: `M` again, which may be a union."""
        self._decoder: msgspec.json.Decoder[M] = msgspec.json.Decoder(messages)

    def read(self, line: bytes) -> M:
        """Read one line.

        Raises:
            BadLineError: It is no JSON, was cut short, or is not one of these messages.
        """
        if not line.endswith(b"\n"):
            raise BadLineError(f"it was cut short after {len(line)} bytes")
        return _decoded(self._decoder, line)


def read_result(call: Call[T], result: UnreadResult) -> T:
    """Read the result of a call as the type which the call declares.

    Raises:
        BadLineError: It is of another type.
    """
    return cast("T", _decoded(_result_decoder(type(call)), result))


@cache
def _result_decoder(call: type[Call[Any]]) -> msgspec.json.Decoder[Any]:
    base: Any = call.__orig_bases__[0]  # type: ignore[attr-defined] # every generic class has it
    return msgspec.json.Decoder(get_args(base)[0])


def _decoded(decoder: msgspec.json.Decoder[M], text: bytes) -> M:
    try:
        return decoder.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadLineError(f"{error} (in {len(text)} bytes)") from error
