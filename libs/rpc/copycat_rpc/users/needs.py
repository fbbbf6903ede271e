"""What each call needs of a user who brings a token. A call that is not listed is denied to all users.

Not listed are those that only parts of a cluster make: whoever makes them says to be one. They ask for the
cluster's secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from copycat_access.needs import Need, Scope
from copycat_access.roles import Role

CONFIG: Final = "/copycat.config.v1.ConfigService/"
EXECUTOR: Final = "/copycat.executor.v1.ExecutorService/"
HISTORY: Final = "/copycat.history.v1.HistoryService/"
OFFSET: Final = "/copycat.offset.v1.OffsetService/"
SCHEDULER: Final = "/copycat.scheduler.v1.SchedulerService/"
STATUS: Final = "/copycat.status.v1.StatusService/"

VIEWS: Final = Need(Role.VIEWER, Scope.CONNECTOR)
VIEWS_SOME: Final = Need(Role.VIEWER, Scope.ANYWHERE)
VIEWS_ALL: Final = Need(Role.VIEWER, Scope.EVERYWHERE)
READS_PROGRESS: Final = Need(Role.OPERATOR, Scope.CONNECTOR)
READS_ALL_PROGRESS: Final = Need(Role.OPERATOR, Scope.EVERYWHERE)


def _operates(act: str) -> Need:
    return Need(Role.OPERATOR, Scope.CONNECTOR, act)


def _changes(act: str, scope: Scope = Scope.CONNECTOR) -> Need:
    return Need(Role.ADMIN, scope, act)


#: By the path of the call. The same as over REST, but that what names a consumer group, settings of a Kafka
#: client or a whole configuration in place of a connector needs its role for all connectors. Of lists and
#: watches a user gets what is about connectors that the user may see (`shown.py`).
CALL_NEEDS: Final[Mapping[str, Need]] = {
    f"{CONFIG}PutConnector": _changes("put configuration"),
    f"{CONFIG}DeleteConnector": _changes("delete connector"),
    f"{CONFIG}SetTargetState": _operates("set target state"),
    f"{CONFIG}RequestRestart": _operates("restart connector"),
    f"{CONFIG}SetLoggerLevel": _changes("set log level", Scope.EVERYWHERE),
    f"{CONFIG}GetConnector": VIEWS,
    f"{CONFIG}ListConnectors": VIEWS_SOME,
    f"{CONFIG}WatchConnectors": VIEWS_SOME,
    f"{EXECUTOR}ListPlugins": VIEWS_SOME,
    f"{EXECUTOR}GetPluginConfig": VIEWS_SOME,
    f"{EXECUTOR}ValidateConnector": Need(Role.ADMIN, Scope.ANYWHERE),
    f"{EXECUTOR}RestartConnector": _operates("restart connector"),
    f"{EXECUTOR}RestartTask": _operates("restart task"),
    f"{EXECUTOR}AlterOffsets": _changes("alter offsets", Scope.EVERYWHERE),
    f"{EXECUTOR}ExplainOffsets": Need(Role.ADMIN, Scope.EVERYWHERE),
    f"{EXECUTOR}FindOffsets": Need(Role.ADMIN, Scope.EVERYWHERE),
    f"{HISTORY}ReadHistory": READS_PROGRESS,
    f"{HISTORY}ReadFactsAt": READS_PROGRESS,
    f"{OFFSET}ReadSourceOffsets": READS_ALL_PROGRESS,
    f"{OFFSET}ListSourceOffsets": READS_ALL_PROGRESS,
    f"{OFFSET}ListSinkOffsets": READS_ALL_PROGRESS,
    f"{OFFSET}DescribeSinkMoves": READS_ALL_PROGRESS,
    f"{OFFSET}GetLastChange": READS_PROGRESS,
    f"{OFFSET}AlterSourceOffsets": _changes("alter offsets", Scope.EVERYWHERE),
    f"{OFFSET}AlterSinkOffsets": _changes("alter offsets", Scope.EVERYWHERE),
    f"{OFFSET}DeleteSinkOffsets": _changes("reset offsets", Scope.EVERYWHERE),
    f"{SCHEDULER}ListWorkers": VIEWS_SOME,
    f"{SCHEDULER}DescribeKafkaCluster": VIEWS_SOME,
    f"{SCHEDULER}GetAssignment": VIEWS,
    f"{SCHEDULER}ListAssignments": VIEWS_SOME,
    f"{SCHEDULER}WatchAssignments": VIEWS_SOME,
    f"{STATUS}GetConnectorStatus": VIEWS,
    f"{STATUS}ListConnectorStatuses": VIEWS_SOME,
    f"{STATUS}WatchStatuses": VIEWS_SOME,
    f"{STATUS}ListTopics": VIEWS,
    f"{STATUS}ResetTopics": _operates("reset active topics"),
    "/copycat.metrics.v1.MetricsService/ReadMetrics": VIEWS_ALL,
}
