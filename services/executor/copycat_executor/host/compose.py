"""Converters and transformations as a connector's configuration names them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from copycat_connect.config import framework_names as names
from copycat_connect.config.definition import missing_text
from copycat_connect.errors import ConfigError
from copycat_connect.plugin import (
    Converter,
    HeaderConverter,
    PluginKind,
    Plugins,
    Predicate,
    Transformation,
    TransformationContext,
)

from copycat_executor.pipeline.chain import Chain
from copycat_executor.pipeline.chain_step import ChainStep
from copycat_executor.pipeline.converters import Converters
from copycat_executor.pipeline.tolerate import Tolerance

Config = Mapping[str, str | None]

_HEADER_DEFAULT: Final = "org.apache.kafka.connect.storage.SimpleHeaderConverter"
_SUFFIX_KEYS: Final = frozenset({"type", "predicate", "negate"})


def build_converters(worker: Config, connector: Config, plugins: Plugins) -> Converters:
    """Make and configure the converters of a task.

    Raises:
        ConfigError: One is not named, not installed, or refuses its configuration.
    """
    key, key_name = _converter(names.KEY_CONVERTER, "key", worker, connector, plugins)
    value, value_name = _converter(names.VALUE_CONVERTER, "value", worker, connector, plugins)
    header, header_name = _header_converter(worker, connector, plugins)
    return Converters(key, value, header, key_name, value_name, header_name)


def _converter(
    name: str, role: str, worker: Config, connector: Config, plugins: Plugins
) -> tuple[Converter, str]:
    class_name, config = _choose(name, role, worker, connector)
    if class_name is None:
        raise ConfigError(missing_text(name), key=name)
    spec = plugins.find(class_name, (PluginKind.CONVERTER,))
    converter: Converter = spec.factory()
    converter.configure(config, is_key=role == "key")
    return converter, spec.class_name


def _header_converter(worker: Config, connector: Config, plugins: Plugins) -> tuple[HeaderConverter, str]:
    class_name, config = _choose(names.HEADER_CONVERTER, "header", worker, connector)
    spec = plugins.find(class_name or _HEADER_DEFAULT, (PluginKind.HEADER_CONVERTER,))
    converter: HeaderConverter = spec.factory()
    converter.configure(config, is_key=False)
    return converter, spec.class_name


def _choose(
    name: str, role: str, worker: Config, connector: Config
) -> tuple[str | None, dict[str, str | None]]:
    """Take the class from the connector or else the worker, and its settings from that same level only."""
    level = connector if connector.get(name) else worker
    class_name = level.get(name)
    settings = _under(level, f"{name}.")
    return class_name and class_name.strip(), {**settings, "converter.type": role}


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
    spec = plugins.find(_required(connector, f"{prefix}type"), (PluginKind.TRANSFORMATION,))
    transformation: Transformation = spec.factory()
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
    spec = plugins.find(_required(connector, f"{prefix}type"), (PluginKind.PREDICATE,))
    predicate: Predicate = spec.factory()
    predicate.configure(_own(connector, prefix))
    return predicate


def _required(config: Config, name: str) -> str:
    value = (config.get(name) or "").strip()
    if not value:
        raise ConfigError(missing_text(name), key=name)
    return value


def _own(config: Config, prefix: str) -> dict[str, str | None]:
    return {key: value for key, value in _under(config, prefix).items() if key not in _SUFFIX_KEYS}


def _under(config: Config, prefix: str) -> dict[str, str | None]:
    return {key.removeprefix(prefix): value for key, value in config.items() if key.startswith(prefix)}
