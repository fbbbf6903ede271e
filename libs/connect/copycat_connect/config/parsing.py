"""Parsing: configuration text to values, by Kafka's rules and with its texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from copycat_connect.config.setting import ConfigSetting, Password, Type
from copycat_connect.data.java import double_text, parse_integer, to_text
from copycat_connect.errors import ConfigError

ClassLookup: TypeAlias = Callable[[str], str | None]
"""Returns the full class name for a class name or alias, or None when there is no such class.

It may raise a ConfigError that says why a class cannot be used.
"""

# Java's trim knows only these.
_BLANKS = "".join(map(chr, range(33)))
_DOUBLE = re.compile(r"[+-]?(([0-9]++\.?[0-9]*+|\.[0-9]++)([eE][+-]?[0-9]+)?[dDfF]?|NaN|Infinity)")
_BITS = {Type.SHORT: 16, Type.INT: 32, Type.LONG: 64}


def _split(text: str) -> list[str]:
    r"""Split as the pattern `\s*,\s*`, whose time grows by the square of blanks in a row."""
    first, *others = text.split(",")
    if not others:
        return [first]
    *middle, last = others
    return [first.rstrip(), *(each.strip() for each in middle), last.lstrip()]


def invalid_value(name: str, value: ConfigSetting, reason: str | None = None) -> ConfigError:
    """Return the error that says a key has a wrong value, in Kafka's words."""
    message = f"Invalid value {setting_text(value)} for configuration {name}"
    return ConfigError(message if reason is None else f"{message}: {reason}", key=name)


def setting_text(value: ConfigSetting) -> str:
    """Return Java's toString of a parsed value."""
    return str(value) if isinstance(value, Password) else to_text(value)


def parse_type(
    name: str, value: ConfigSetting, type: Type, classes: ClassLookup | None = None
) -> ConfigSetting:
    """Parse one value.

    Args:
        name: The key, for the error text.
        value: Text, or a value parsed before, or None.
        type: What to parse it to.
        classes: Finds classes for `Type.CLASS`; without it any name passes.

    Raises:
        ConfigError: The text is not of that type.
    """
    if not isinstance(value, str):
        return Password(str(value)) if type is Type.PASSWORD and isinstance(value, int) else value
    text = value.strip(_BLANKS)
    match type:
        case Type.STRING:
            parsed: ConfigSetting = text
        case Type.PASSWORD:
            parsed = Password(text)
        case Type.LIST:
            parsed = _split(text) if text else []
        case Type.BOOLEAN:
            parsed = _parse_boolean(name, value, text)
        case Type.CLASS:
            parsed = _parse_class(name, value, text, classes)
        case _:
            parsed = _parse_number(name, value, text, type)
    return parsed


def _parse_boolean(name: str, value: str, text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise invalid_value(name, value, "Expected value to be either true or false")
    return text.lower() == "true"


def _parse_class(name: str, value: str, text: str, classes: ClassLookup | None) -> str:
    try:
        found = text if classes is None else classes(text)
    except ConfigError as error:
        raise invalid_value(name, value, error.message) from error
    if found is None:
        raise invalid_value(name, value, f"Class {value} could not be found.")
    return found


def _parse_number(name: str, value: str, text: str, type: Type) -> int | float:
    if type is Type.DOUBLE:
        if _DOUBLE.fullmatch(text):
            return float(text.rstrip("dDfF"))
    else:
        number = parse_integer(text, _BITS[type])
        if number is not None:
            return number
    raise invalid_value(name, value, f"Not a number of type {type.value}")


def setting_to_string(value: ConfigSetting, type: Type | None) -> str | None:
    """Return how REST shows a parsed value; None for null.

    Args:
        value: The parsed value.
        type: The key's type; None for a key nobody defines.
    """
    if value is None:
        return None
    if type is Type.LIST and isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    if isinstance(value, float):
        return double_text(value)
    return setting_text(value)
