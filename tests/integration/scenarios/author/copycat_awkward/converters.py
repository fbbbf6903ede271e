"""Converters and header converters that cannot be made, or are fit only with the right settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from copycat_connect.config import BOOLEAN, HIGH, ConfigDef, ConfigKey
from copycat_connect.data import NULL, SchemaAndValue
from copycat_connect.errors import ConnectError
from copycat_connect.plugin import Converter, HeaderConverter, PluginKind, PluginSpec

NEEDY = ConfigDef(ConfigKey("needed", BOOLEAN, HIGH, doc="Must be given."))


class Plain(Converter):
    """Converts nothing into nothing."""

    def configure(self, config: Mapping[str, Any], is_key: bool) -> None:
        """Need no settings."""

    def to_connect(self, topic: str, headers: Any, data: bytes | None) -> SchemaAndValue:
        """Return nothing."""
        return NULL

    def from_connect(self, topic: str, headers: Any, schema: Any, value: Any) -> bytes | None:
        """Return nothing."""
        return None


class PlainHeader(HeaderConverter):
    """Converts nothing into nothing."""

    def configure(self, config: Mapping[str, Any]) -> None:
        """Need no settings."""

    def to_connect_header(self, topic: str, name: str, value: bytes | None) -> SchemaAndValue:
        """Return nothing."""
        return NULL

    def from_connect_header(self, topic: str, name: str, schema: Any, value: Any) -> bytes | None:
        """Return nothing."""
        return None


class Abstract(Converter):
    """Leaves everything to others."""


class AbstractHeader(HeaderConverter):
    """Leaves everything to others."""


class Demanding(Plain):
    """Cannot be made without an argument."""

    def __init__(self, wanted: str) -> None:
        """Accept it."""
        self.wanted = wanted


class DemandingHeader(PlainHeader):
    """Cannot be made without an argument."""

    def __init__(self, wanted: str) -> None:
        """Accept it."""
        self.wanted = wanted


def fails() -> NoReturn:
    """Fail."""
    message = "this converter is in no mood"
    raise ConnectError(message)


def _spec(name: str, kind: PluginKind, factory: Callable[..., Any], config: ConfigDef) -> PluginSpec:
    return PluginSpec(f"awkward.{name}", kind, "1.0", "Unfit.", config, factory)


def _specs(suffix: str, kind: PluginKind, *classes: Callable[..., Any]) -> tuple[PluginSpec, ...]:
    plain, abstract, demanding = classes
    return (
        _spec(f"Abstract{suffix}", kind, abstract, ConfigDef()),
        _spec(f"Demanding{suffix}", kind, demanding, ConfigDef()),
        _spec(f"Failing{suffix}", kind, fails, ConfigDef()),
        _spec(f"Needy{suffix}", kind, plain, NEEDY),
        _spec(f"Plain{suffix}", kind, plain, ConfigDef()),
    )


PLUGINS = (
    *_specs("Converter", PluginKind.CONVERTER, Plain, Abstract, Demanding),
    *_specs("HeaderConverter", PluginKind.HEADER_CONVERTER, PlainHeader, AbstractHeader, DemandingHeader),
)
