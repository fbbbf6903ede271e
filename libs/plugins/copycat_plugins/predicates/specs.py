"""How predicates are registered."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from copycat_connect.config import ConfigDef
from copycat_connect.kafka_version import KAFKA_VERSION
from copycat_connect.plugin import PluginKind, PluginSpec, Predicate

PACKAGE = "org.apache.kafka.connect.transforms.predicates"


def predicate_plugin(
    make: Callable[[], Predicate],
    name: str,
    summary: str,
    config: ConfigDef,
    examples: Mapping[str, Mapping[str, str]],
) -> PluginSpec:
    """Return the registration of a predicate."""
    return PluginSpec(
        class_name=f"{PACKAGE}.{name}",
        kind=PluginKind.PREDICATE,
        version=KAFKA_VERSION,
        summary=summary,
        config=config,
        factory=make,
        examples=examples,
    )
