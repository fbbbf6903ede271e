"""Values of every message, made from the types of its fields."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, Union, get_args, get_origin, get_type_hints

from copycat_executor.pipes import connector_messages, query_messages
from copycat_executor.pipes.connector_messages import FromConnectors, FromTemplate, ToConnectors, ToTemplate
from copycat_executor.pipes.messages import Answer, Ask, Call
from copycat_executor.pipes.query_messages import FromQueries, ToQueries
from hypothesis import strategies as st
from msgspec import structs

LEAVES: Mapping[object, st.SearchStrategy[Any]] = {
    str: st.text(max_size=20),
    int: st.integers(-(2**63), 2**63 - 1),
    bool: st.booleans(),
    bytes: st.binary(max_size=50),
    type(None): st.none(),
    ...: st.nothing(),
}
READERS: Mapping[object, Any] = {
    ToConnectors: connector_messages.TO_CONNECTORS,
    FromConnectors: connector_messages.FROM_CONNECTORS,
    ToTemplate: connector_messages.TO_TEMPLATE,
    FromTemplate: connector_messages.FROM_TEMPLATE,
    ToQueries: query_messages.TO_QUERIES,
    FromQueries: query_messages.FROM_QUERIES,
    connector_messages.BeginConnectors: connector_messages.FIRST_LINE,
    query_messages.BeginQueries: query_messages.FIRST_LINE,
}


def members(spoken: object) -> tuple[Any, ...]:
    """Return what a line of a conversation may be: an `Ask` once for each of its calls."""
    union = get_args(spoken) if get_origin(spoken) in (types.UnionType, Union) else (spoken,)
    ask: Any = Ask
    calls = [ask[call] for each in union if get_origin(each) is Ask for call in get_args(get_args(each)[0])]
    return (*calls, *(each for each in union if get_origin(each) not in (Ask, Answer)))


#: What may stand on a line, with the reader of its conversation; answers are read by the type of their call.
ON_LINES = [(reader, each) for union, reader in READERS.items() for each in members(union)]
CALLS: list[type[Call[Any]]] = [
    call
    for union in (connector_messages.AnyConnectorCall, query_messages.AnyQueryCall)
    for call in get_args(union)
]


def answered_by(call: type[Call[Any]]) -> object:
    """Return the type which a call declares for its answer."""
    return get_args(call.__orig_bases__[0])[0]  # type: ignore[attr-defined]  # every generic class has it


def values(wanted: Any) -> st.SearchStrategy[Any]:
    """Draw values of a type that occurs in messages."""
    if wanted in LEAVES:
        return LEAVES[wanted]
    if isinstance(wanted, type) and issubclass(wanted, Enum):
        return st.sampled_from(wanted)
    if get_args(wanted):
        return _generic_values(get_origin(wanted), tuple(map(values, get_args(wanted)[:2])), wanted)
    return st.builds(wanted, **{name: values(each) for name, each in _fields(wanted).items()})


def _generic_values(origin: Any, inner: tuple[Any, ...], wanted: Any) -> st.SearchStrategy[Any]:
    if origin in (types.UnionType, Union):
        return st.one_of(*map(values, get_args(wanted)))
    if origin is Mapping:
        return st.dictionaries(*inner, max_size=3)
    if origin is Ask:
        return st.builds(Ask, LEAVES[int], *inner)
    drawn = st.lists(inner[0], max_size=3)
    return drawn if origin is Sequence else drawn.map(tuple)


def _fields(wanted: Any) -> Mapping[str, Any]:
    if is_dataclass(wanted):
        hints = get_type_hints(wanted)
        return {each.name: hints[each.name] for each in fields(wanted)}
    return {each.name: each.type for each in structs.fields(wanted)}
