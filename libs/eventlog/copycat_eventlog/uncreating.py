"""aiokafka's clients as they are used here: none of them ever has a broker create a topic.

A topic that is asked for by name is made by brokers with `auto.create.topics.enable`, with their defaults.
For an internal topic that somebody deleted this is the worst: it is there again, empty, and loses records by
its `cleanup.policy`. aiokafka has no setting for it.
"""

from __future__ import annotations

from typing import Any, TypeVar

from aiokafka.client import AIOKafkaClient
from aiokafka.protocol.metadata import MetadataRequest

C = TypeVar("C")


class UncreatingClient(AIOKafkaClient):  # type: ignore[misc] # it has no types
    """Asks for topics without a wish that they be there."""

    async def _get_conn(self, node_id: Any, **options: Any) -> Any:
        connection = await super()._get_conn(node_id, **options)
        return None if connection is None else _Asking(connection)


class _Asking:
    """A connection that says of each request for metadata that nothing is to be created."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def send(self, request: Any, *arguments: Any, **options: Any) -> Any:
        if type(request) is MetadataRequest:
            topics = request._topics  # noqa: SLF001 - aiokafka offers no other way
            request = MetadataRequest(topics, allow_auto_topic_creation=False)
        return self._connection.send(request, *arguments, **options)


def uncreating(user: C) -> C:
    """Return a consumer or admin client of aiokafka that was just made, its own client an uncreating one."""
    user._client.__class__ = UncreatingClient  # type: ignore[attr-defined] # noqa: SLF001 - likewise
    return user
