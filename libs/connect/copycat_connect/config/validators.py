"""Validators: what a parsed value must meet. Texts are Kafka's.

Each is called with the key's name and the parsed value, and raises ConfigError.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterable
from typing import Final

from copycat_connect.config.key import Validator
from copycat_connect.config.parsing import invalid_value, setting_text
from copycat_connect.config.setting import ConfigSetting
from copycat_connect.errors import ConfigError
from copycat_connect.log_levels import LEVELS, setting_level

MAX_TOPIC_NAME: Final = 249
_TOPIC_PART: Final = re.compile(r"[a-zA-Z0-9._-]+")


def between(low: float | None, high: float | None) -> Validator:
    """Accept numbers from `low` to `high`, both included; None leaves an end open."""

    def check(name: str, value: ConfigSetting) -> None:
        if value is None:
            raise invalid_value(name, None, "Value must be non-null")
        if low is not None and value < low:
            raise invalid_value(name, value, f"Value must be at least {setting_text(low)}")
        if high is not None and value > high:
            raise invalid_value(name, value, f"Value must be no more than {setting_text(high)}")

    return check


def at_least(low: float) -> Validator:
    """Accept numbers from `low` up."""
    return between(low, None)


def at_most(high: float) -> Validator:
    """Accept numbers up to `high`."""
    return between(None, high)


def one_of(*choices: str) -> Validator:
    """Accept these texts exactly."""

    def check(name: str, value: ConfigSetting) -> None:
        if value not in choices:
            raise invalid_value(name, value, f"String must be one of: {', '.join(choices)}")

    return check


def one_of_ignoring_case(*choices: str) -> Validator:
    """Accept these texts in any case."""
    upper = [choice.upper() for choice in choices]

    def check(name: str, value: ConfigSetting) -> None:
        if value is None or value.upper() not in upper:
            raise invalid_value(name, value, f"String must be one of (case insensitive): {', '.join(upper)}")

    return check


def non_empty(name: str, value: ConfigSetting) -> None:
    """Accept any text but the empty one; null passes."""
    if value is not None and value == "":
        raise invalid_value(name, value, "String must be non-empty")


def usable_name(name: str, value: ConfigSetting) -> None:
    """Accept names that REST can be asked for; null passes, since its absence is reported elsewhere."""
    if value is None:
        return
    if value == "":
        raise invalid_value(name, value, "String may not be empty")
    found = [ord(character) for character in value if ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0]
    if found:
        text = ", ".join(str(code) for code in found)
        reason = f"String may not contain control sequences but had the following ASCII chars: {text}"
        raise invalid_value(name, value, reason)
    if value in (".", ".."):
        reason = "In a URL it leads to another place, so that nobody could ask for it; use another name"
        raise invalid_value(name, value, reason)


def non_null(name: str, value: ConfigSetting) -> None:
    """Accept anything but null."""
    if value is None:
        raise invalid_value(name, None, "entry must be non null")


def non_empty_list(name: str, value: ConfigSetting) -> None:
    """Accept lists that have an entry."""
    if not value:
        raise invalid_value(name, value, "Empty list")


def unique_aliases(name: str, value: ConfigSetting) -> None:
    """Accept lists without duplicates."""
    if value is not None and len(set(value)) < len(value):
        raise invalid_value(name, value, "Duplicate alias provided.")


def topic_name(name: str, value: ConfigSetting) -> None:
    """Accept the names that Kafka accepts for topics; null and the empty text pass, for they name none."""
    if value and (value in (".", "..") or len(value) > MAX_TOPIC_NAME or not _TOPIC_PART.fullmatch(value)):
        raise _wrong_topic(name, value)


def topic_names(name: str, value: ConfigSetting) -> None:
    """Accept lists of such names."""
    for each in value or ():
        topic_name(name, each)


def topic_prefix(name: str, value: ConfigSetting) -> None:
    """Accept what such a name may begin with; null and the empty text pass."""
    if value and (len(value) > MAX_TOPIC_NAME or not _TOPIC_PART.fullmatch(value)):
        raise _wrong_topic(name, value)


def file_name(name: str, value: ConfigSetting) -> None:
    """Accept what may be the name of a file, whether there is one or not; null passes."""
    if value is None:
        return
    try:
        possible = b"\0" not in os.fsencode(value)
    except UnicodeEncodeError:
        possible = False
    if not possible:
        raise ConfigError(
            f"Invalid value for configuration {name}: no file can have this name, since it has a zero"
            " character or one that is no text",
            key=name,
        )


def line_encoding(name: str, value: ConfigSetting) -> None:
    """Accept character encodings whose line ends are single bytes, as those of ASCII; by Java's names too."""
    try:
        ended = "\n\r".encode(codecs.lookup(str(value)).name)
    except (LookupError, UnicodeError) as error:
        raise invalid_value(name, value, "there is no such character encoding") from error
    if ended != b"\n\r":
        raise invalid_value(
            name, value, "its line ends are no single bytes; UTF-8, ISO-8859-1 and the like are"
        )


def at_most_entries(most: int) -> Validator:
    """Accept lists of up to `most` entries; the error does not repeat the list, which is long."""

    def check(name: str, value: ConfigSetting) -> None:
        if value is not None and len(value) > most:
            raise ConfigError(
                f"Invalid value for configuration {name}: it has {len(value)} entries, "
                f"and at most {most} are accepted",
                key=name,
            )

    return check


def distinct_names(*, allow_empty: bool = True) -> Validator:
    """Accept lists of names that are neither empty nor repeated; an empty list only where it is allowed."""

    def check(name: str, value: ConfigSetting) -> None:
        if value is None:
            raise _wrong_list(name, "values must not be null.")
        if not value and not allow_empty:
            raise _wrong_list(name, "must not be empty. Valid values include: any non-empty value")
        if len(set(value)) < len(value):
            raise _wrong_list(name, "values must not be duplicated.")
        if "" in value:
            raise _wrong_list(name, "values must not be empty.")

    return check


def _wrong_topic(name: str, value: str) -> ConfigError:
    return invalid_value(
        name,
        value,
        f"Kafka allows topics up to {MAX_TOPIC_NAME} characters, of ASCII letters, digits, '.', '_' and '-',"
        " but neither . nor ..",
    )


def _wrong_list(name: str, reason: str) -> ConfigError:
    return ConfigError(f"Configuration '{name}' {reason}", key=name)


def all_of(validators: Iterable[Validator]) -> Validator:
    """Accept what every one of them accepts."""
    checks = tuple(validators)

    def check(name: str, value: ConfigSetting) -> None:
        for each in checks:
            each(name, value)

    return check


def log_level_name(name: str, value: ConfigSetting) -> None:
    """Accept the names of log levels in any case, Log4j's and Python's own."""
    if setting_level(str(value)) is None:
        raise invalid_value(name, value, f"Must be one of (case insensitive): {', '.join(LEVELS)}")
