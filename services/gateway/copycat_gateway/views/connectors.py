"""Connectors and their tasks as Kafka Connect shows them."""

from __future__ import annotations

from urllib.parse import quote

from copycat.config.v1 import config_service_pb2 as config_pb2
from copycat_rest.answers import ConnectorInfo, TaskId, TaskInfo
from copycat_rpc.configs import config_from_proto

#: What Java's URI builder leaves alone in a path segment.
PATH_SAFE = "!$&'()*+,;=:@"


def connector_info(connector: config_pb2.Connector, kind: str) -> ConnectorInfo:
    """Return the connector; `kind` is source, sink or unknown."""
    return ConnectorInfo(
        name=connector.name,
        config=config_from_proto(connector.config),
        tasks=[TaskId(connector.name, index) for index in range(len(connector.tasks))],
        type=kind,
    )


def task_infos(connector: config_pb2.Connector) -> list[TaskInfo]:
    """Return the committed tasks with their raw configurations."""
    return [
        TaskInfo(TaskId(connector.name, index), config_from_proto(config))
        for index, config in enumerate(connector.tasks)
    ]


def tasks_config(connector: config_pb2.Connector) -> dict[str, dict[str, str | None]]:
    """Return the task configurations by `<connector>-<task>`, the shape of the deprecated resource."""
    return {
        f"{connector.name}-{index}": config_from_proto(config) for index, config in enumerate(connector.tasks)
    }


def location(connector: str) -> str:
    """Return the path of a connector; a slash in its name is encoded, so that the path leads there."""
    return f"/connectors/{quote(connector, safe=PATH_SAFE)}"
