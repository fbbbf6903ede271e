"""Converters and transformations as a connector's configuration names them."""

from __future__ import annotations

from typing import Any, Final

from copycat_connect.cluster import Config
from copycat_connect.config import framework_names as names
from copycat_connect.config.definition import missing_text
from copycat_connect.errors import ConfigError
from copycat_connect.plugin import (
    Converter,
    HeaderConverter,
    PluginKind,
    Plugins,
    PluginSpec,
    Predicate,
    Transformation,
    TransformationContext,
)

from copycat_executor.pipeline.records.chain import Chain, ChainStep
from copycat_executor.pipeline.records.converters import Converters
from copycat_executor.pipeline.records.tolerate import Tolerance

_DEFAULT_HEADER_CONVERTER: Final = "org.apache.kafka.connect.storage.SimpleHeaderConverter"
#: Keys of a transformation or predicate that the chain reads; the plugin does not get them.
_KEYS_OF_THE_CHAIN: Final = frozenset({"type", "predicate", "negate"})


def build_converters(worker: Config, connector: Config, plugins: Plugins) -> Converters:
    """Make and configure the converters of a task.

    Raises:
        ConfigError: One is not named, not installed, or refuses its configuration.
    """
    key, key_name = _made(names.KEY_CONVERTER, "key", worker, connector, plugins)
    value, value_name = _made(names.VALUE_CONVERTER, "value", worker, connector, plugins)
    header, header_name = _made(names.HEADER_CONVERTER, "header", worker, connector, plugins)
    return Converters(key, value, header, key_name, value_name, header_name)


def _made(name: str, role: str, worker: Config, connector: Config, plugins: Plugins) -> tuple[Any, str]:
    level, spec = find_converter(name, worker, connector, plugins)
    converter: Converter | HeaderConverter = spec.make()
    converter.configure({**_under(level, f"{name}."), "converter.type": role}, is_key=role == "key")
    return converter, spec.class_name


def find_converter(
    name: str, worker: Config, connector: Config, plugins: Plugins
) -> tuple[Config, PluginSpec]:
    """Make a converter of the connector or else the worker; its settings come from that same level only.

    Raises:
        ConfigError: It is not named or not installed.
    """
    level = connector if connector.get(name) else worker
    if name == names.HEADER_CONVERTER:
        class_name, kind = level.get(name) or _DEFAULT_HEADER_CONVERTER, PluginKind.HEADER_CONVERTER
    else:
        class_name, kind = required(level, name), PluginKind.CONVERTER
    return level, plugins.find(class_name.strip(), (kind,))


def build_chain(
    connector: Config,
    aliases: list[str],
    plugins: Plugins,
    tolerance: Tolerance,
    context: TransformationContext,
) -> Chain:
    """Make and configure the transformations of a task, in order.

    Raises:
        ConfigError: One is not named, not installed, or refuses its configuration.
    """
    return Chain([_step(alias, connector, plugins, context) for alias in aliases], tolerance)


def _step(alias: str, connector: Config, plugins: Plugins, context: TransformationContext) -> ChainStep:
    prefix = f"{names.TRANSFORMS}.{alias}."
    spec = plugins.find(required(connector, f"{prefix}type"), (PluginKind.TRANSFORMATION,))
    transformation: Transformation = spec.make()
    transformation.initialize(context)
    transformation.configure(_own(connector, prefix))
    predicate = (connector.get(f"{prefix}predicate") or "").strip()
    return ChainStep(
        transformation,
        spec.class_name,
        _predicate(predicate, connector, plugins) if predicate else None,
        (connector.get(f"{prefix}negate") or "").strip().lower() == "true",
    )


def _predicate(alias: str, connector: Config, plugins: Plugins) -> Predicate:
    prefix = f"{names.PREDICATES}.{alias}."
    spec = plugins.find(required(connector, f"{prefix}type"), (PluginKind.PREDICATE,))
    predicate: Predicate = spec.make()
    predicate.configure(_own(connector, prefix))
    return predicate


def required(config: Config, name: str) -> str:
    """Return what a configuration has under a key.

    Raises:
        ConfigError: Nothing.
    """
    value = (config.get(name) or "").strip()
    if not value:
        raise ConfigError(missing_text(name), key=name)
    return value


def _own(config: Config, prefix: str) -> dict[str, str | None]:
    return {key: value for key, value in _under(config, prefix).items() if key not in _KEYS_OF_THE_CHAIN}


def _under(config: Config, prefix: str) -> dict[str, str | None]:
    return {key.removeprefix(prefix): value for key, value in config.items() if key.startswith(prefix)}
