"""Statuses as answers show them: with what keeps instances from moving, and summed up."""

from __future__ import annotations

from collections.abc import Callable

from copycat.status.v1 import status_service_pb2 as pb
from copycat_connect.cluster import Instance
from copycat_serving.rendering import Rendering

from copycat_status.adapters.messages import status_message
from copycat_status.adapters.troubles import TroublesNow
from copycat_status.domain.health import HealthLevel, Told, Troubles, health_of, told_of
from copycat_status.domain.state import ConnectorFacts, StatusState
from copycat_status.domain.status import Status
from copycat_status.domain.views import ConnectorStatus, view_of

LEVELS = {
    HealthLevel.HEALTHY: pb.HEALTH_HEALTHY,
    HealthLevel.DEGRADED: pb.HEALTH_DEGRADED,
    HealthLevel.FAILED: pb.HEALTH_FAILED,
}


class ShownStatuses:
    """Makes the messages of connectors; those of connectors without trouble are made once for each state."""

    def __init__(self, troubles: TroublesNow, wall_ms: Callable[[], int]) -> None:
        self._troubles = troubles
        self._wall_ms = wall_ms
        self._untroubled = Rendering(self._without_trouble)

    def one(self, view: ConnectorStatus) -> pb.ConnectorStatus:
        """Return the message of a connector."""
        return _message(view, self._troubles.now(), self._wall_ms())

    def all(self, state: StatusState) -> list[pb.ConnectorStatus]:
        """Return the messages of every connector that has a status, by name; nobody may change them."""
        troubles, now_ms = self._troubles.now(), self._wall_ms()
        troubled = {instance.connector for instance in troubles}
        return [
            _message(view, troubles, now_ms)
            if message.connector in troubled and (view := _view(state, message.connector))
            else message
            for message in self._untroubled.messages(state.connectors)
        ]

    def _without_trouble(self, connector: str, facts: ConnectorFacts) -> pb.ConnectorStatus | None:
        view = view_of(connector, facts)
        return None if view is None else _message(view, {}, self._wall_ms())


def _view(state: StatusState, connector: str) -> ConnectorStatus | None:
    return view_of(connector, state.facts(connector))


def _message(view: ConnectorStatus, troubles: Troubles, now_ms: int) -> pb.ConnectorStatus:
    name = view.connector
    own = told_of(view.status, troubles.get(Instance(name)), now_ms)
    tasks = {
        task: told_of(status, troubles.get(Instance(name, task)), now_ms)
        for task, status in view.tasks.items()
    }
    health = health_of(own, tasks)
    return pb.ConnectorStatus(
        connector=name,
        status=_with_reason(view.status, own),
        tasks={task: _with_reason(status, tasks[task]) for task, status in view.tasks.items()},
        health=LEVELS[health.level],
        health_reason=health.reason,
    )


def _with_reason(status: Status, told: Told) -> pb.Status:
    message = status_message(status)
    if told.reason:
        message.reason = told.reason
    return message
