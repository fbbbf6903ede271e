"""Request bodies: JSON text -> what a route asks for.

Kafka Connect answers 500 to a body it cannot read, and takes a number or a boolean where a string is wanted;
clients rely on both.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from copycat_connect.cluster import INITIAL_STATES, TargetState

from copycat_gateway.errors import FailedRequestError, TooLargeError

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
StringMap = dict[str, str | None]

CREATE_FIELDS: Final = ("name", "config", "initial_state")
BLANK: Final = "".join(map(chr, range(0x21)))  # what Java's trim() removes
MAX_KEYS: Final = 10_000
"""Keys of a configuration. A large one has some hundred; each costs every process on its way a moment."""
MAX_VALUES: Final = 50_000
"""Values in a whole body, for example those of 10,000 offsets: reading more would hold other requests up."""
STRING_OR_COMMA: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|,', re.DOTALL)


class NumberText(str):
    """A JSON number as it was written, for places that want text."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class CreateRequest:
    """The body of `POST /connectors`."""

    name: str
    """Trimmed; empty when missing."""
    config: StringMap
    """As given, a null value kept."""
    initial_state: TargetState
    """What the connector is to do at first; to run, when the body does not say."""


@dataclass(frozen=True, slots=True)
class OffsetEntry:
    """One entry of an offsets request."""

    partition: dict[str, Json] | None
    """The connector's own map."""
    offset: dict[str, Json] | None
    """Missing: forget the partition."""


def string_map(payload: bytes) -> StringMap:
    """Read a flat map, e.g. a connector configuration."""
    return _strings(_text_numbers(payload), "the request body")


def create_request(payload: bytes) -> CreateRequest:
    """Read the body of `POST /connectors`."""
    fields = _object(_text_numbers(payload), "the request body", CREATE_FIELDS)
    name = _string(fields.get("name"), "'name'")
    state = _string(fields.get("initial_state"), "'initial_state'")
    if state is not None and state.upper() not in INITIAL_STATES:
        raise FailedRequestError(
            f"Cannot construct instance of an initial state from '{state}':"
            f" it must be one of {', '.join(INITIAL_STATES)}"
        )
    return CreateRequest(
        name=(name or "").strip(BLANK),
        config=_strings(fields.get("config"), "'config'"),
        initial_state=TargetState.STARTED if state is None else INITIAL_STATES[state.upper()],
    )


def offset_entries(payload: bytes) -> Sequence[OffsetEntry]:
    """Read the body of `PATCH /connectors/{name}/offsets`; a missing list is an empty one."""
    entries = _object(_parse(payload), "the request body", ("offsets",)).get("offsets")
    if entries is None:
        return ()
    if not isinstance(entries, list):
        raise _mismatch("'offsets'", "an array", entries)
    return [_offset_entry(entry) for entry in entries]


def _offset_entry(entry: Json) -> OffsetEntry:
    if not isinstance(entry, dict):
        raise FailedRequestError(
            f"Cannot construct instance of an offset entry from {_kind(entry)}:"
            " it must be an object with 'partition' and 'offset'"
        )
    fields = _object(entry, "an offset entry", ("partition", "offset"))
    return OffsetEntry(_optional_object(fields, "partition"), _optional_object(fields, "offset"))


def _optional_object(fields: Mapping[str, Json], key: str) -> dict[str, Json] | None:
    value = fields.get(key)
    if value is not None and not isinstance(value, dict):
        raise _mismatch(f"'{key}'", "an object", value)
    return value


def _text_numbers(payload: bytes) -> Json:
    return _parse(payload, NumberText, NumberText)


def _parse(
    payload: bytes,
    parse_int: Callable[[str], Json] = int,
    parse_float: Callable[[str], Json] | None = None,
) -> Json:
    if not payload.strip():
        raise FailedRequestError("The request has no body: send a JSON document")
    _check_values(payload)
    try:
        parsed: Json = json.loads(
            payload.decode(),
            parse_int=parse_int,
            parse_float=parse_float or _finite,
            parse_constant=_no_constant,
        )
    except UnicodeDecodeError as error:
        raise FailedRequestError("The request body is not UTF-8 text") from error
    except RecursionError as error:
        raise FailedRequestError("The request body is nested too deeply") from error
    except ValueError as error:
        raise FailedRequestError(f"The request body is not valid JSON: {error}") from error
    return parsed


def _check_values(payload: bytes) -> None:
    """Refuse a body with too many values before it is parsed, which nothing could interrupt.

    All commas are counted first, which takes no time; those within strings are subtracted only where there
    are many.

    Raises:
        TooLargeError: It has more than `MAX_VALUES`.
    """
    if payload.count(b",") < MAX_VALUES:
        return
    values = 1
    for found in STRING_OR_COMMA.finditer(payload):
        values += found[0] == b","
        if values > MAX_VALUES:
            raise TooLargeError(
                f"The request body has too many values: at most {MAX_VALUES} are accepted; send them in parts"
            )


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"number out of range: {text[:40]}")
    return number


def _no_constant(text: str) -> Json:
    raise ValueError(f"unexpected token {text}")


def _object(value: Json, what: str, known: Sequence[str]) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise _mismatch(what, "an object", value)
    for key in value:
        if key not in known:
            raise FailedRequestError(
                f'Unrecognized field "{clean(key)}" in {what}, known are: {", ".join(known)}'
            )
    return value


def _strings(value: Json, what: str) -> StringMap:
    if not isinstance(value, dict):
        raise _mismatch(what, "an object of strings", value)
    if len(value) > MAX_KEYS:
        raise TooLargeError(f"Too many keys in {what}: it has {len(value)}, at most {MAX_KEYS} are accepted")
    return {clean(key): _string(item, f"'{clean(key)}'") for key, item in value.items()}


def _string(value: Json, what: str) -> str | None:
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case str():
            return clean(value)
        case _:
            raise _mismatch(what, "a string", value)


def clean(text: str) -> str:
    """Return text that UTF-8 can hold: a lone surrogate becomes `?`, as in Java."""
    return text.encode("utf-8", "replace").decode()


def _mismatch(what: str, wanted: str, value: Json) -> FailedRequestError:
    return FailedRequestError(f"Cannot deserialize value of {what}: expected {wanted}, got {_kind(value)}")


def _kind(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case NumberText() | int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "an array"
        case _:
            return "an object"
