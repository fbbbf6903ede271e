"""What a task is made of: its plugins with their versions (KIP-891)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from copycat.host.v1 import host_service_pb2 as pb
from copycat_connect.config import framework_names as names
from copycat_connect.config.framework_common import CONNECTOR
from copycat_connect.plugin import PluginKind, Plugins, PluginSpec

from copycat_executor.taskhost.compose import find_converter, required
from copycat_executor.taskhost.host_surroundings import HostSurroundings
from copycat_executor.taskhost.order import TaskOrder

_CONVERTERS: Final = (names.KEY_CONVERTER, names.VALUE_CONVERTER, names.HEADER_CONVERTER)


def plugins_in_use(
    order: TaskOrder, spec: PluginSpec, surroundings: HostSurroundings
) -> list[pb.PluginInUse]:
    """Name the plugins of a task that was put together."""
    task = replace(spec, class_name=spec.task_class_name)
    return [
        _plugin("connector", spec, type=spec.kind.value),
        _plugin("task", task),
        *_converters(order, surroundings.plugins),
        *_chain(order, surroundings.plugins),
    ]


def _converters(order: TaskOrder, plugins: Plugins) -> Iterator[pb.PluginInUse]:
    for name in _CONVERTERS:
        _, spec = find_converter(name, order.worker_config, order.connector_config, plugins)
        yield _plugin(name.replace(".", "-"), spec)


def _chain(order: TaskOrder, plugins: Plugins) -> Iterator[pb.PluginInUse]:
    config = order.connector_config
    steps = CONNECTOR.parse(config)[names.TRANSFORMS]
    conditions = (str(config.get(f"{names.TRANSFORMS}.{alias}.predicate") or "").strip() for alias in steps)
    for role, key, kind, aliases in (
        ("transform", names.TRANSFORMS, PluginKind.TRANSFORMATION, steps),
        ("predicate", names.PREDICATES, PluginKind.PREDICATE, filter(None, dict.fromkeys(conditions))),
    ):
        for alias in aliases:
            spec = plugins.find(required(config, f"{key}.{alias}.type"), (kind,))
            yield _plugin(role, spec, alias=alias)


def _plugin(role: str, spec: PluginSpec, *, alias: str = "", type: str = "") -> pb.PluginInUse:
    return pb.PluginInUse(role=role, alias=alias, class_name=spec.class_name, version=spec.version, type=type)
