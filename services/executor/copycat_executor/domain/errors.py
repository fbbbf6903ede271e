"""Errors of the executor."""

from __future__ import annotations

from copycat_connect.cluster import Instance
from copycat_connect.errors import ConnectError, CopycatError, ErrorCode


class UnassignedInstanceError(CopycatError):
    """This worker does not run the connector or task it was asked for."""

    code = ErrorCode("instance.unassigned", grpc="NOT_FOUND", http=404)

    def __init__(self, instance: Instance) -> None:
        what = "connector" if instance.task is None else "task"
        super().__init__(f"This worker does not run {what} {instance}", connector=instance.connector)


class RestartFailedError(ConnectError):
    """A restarted instance did not come up."""

    def __init__(self, instance: Instance) -> None:
        what = "connector" if instance.task is None else "task"
        super().__init__(f"Failed to start {what}: {instance}", connector=instance.connector)


class TooManyTasksError(ConnectError):
    """A connector made more tasks than `tasks.max` allows."""

    def __init__(self, connector: str, count: int, limit: int) -> None:
        super().__init__(
            f"The connector {connector} has generated {count} tasks, which is greater than {limit}, the "
            "maximum number of tasks it is configured to create. This behaviour should be considered a bug "
            "and is disallowed. If necessary, it can be permitted by reconfiguring the connector with "
            "'tasks.max.enforce' set to false; however, this option will be removed in a future release of "
            "Kafka Connect.",
            connector=connector,
        )


class TaskLimitError(ConnectError):
    """A connector made more tasks than this worker allows any connector."""

    def __init__(self, connector: str, count: int, limit: int, key: str) -> None:
        super().__init__(
            f"The connector {connector} has generated {count} tasks, more than the {limit} that this worker "
            f"allows one connector ({key}). It was asked for at most that many: have it make fewer, or raise "
            f"the worker property {key}.",
            connector=connector,
        )


class PluginHangsError(CopycatError):
    """Author code did not come back within its deadline."""

    code = ErrorCode("plugin.hangs", grpc="DEADLINE_EXCEEDED", http=500)

    def __init__(self, stage: str, began: str) -> None:
        super().__init__(
            f"Request timed out. The worker is currently {stage}, which began at {began}.",
            stage=stage,
            began=began,
        )


class ProcessStartsError(PluginHangsError):
    """The process that author code is to run in did not start in time: no author is to blame."""

    def __init__(self, process: str, began: str) -> None:
        super().__init__(f"starting the process of the {process}", began)


class PluginProcessGoneError(CopycatError):
    """The process that runs connectors ended during the call; it is started again."""

    code = ErrorCode("plugin.crashed", grpc="UNAVAILABLE", http=500)

    def __init__(self, ending: str, *, alone: bool = False) -> None:
        """`alone`: the code that was called had the process for itself, so that nothing else ended it."""
        super().__init__(
            f"The connector's code ended the process that it ran in, where nothing else ran ({ending})"
            if alone
            else f"The process of the connectors ended during the call ({ending}); it is started again"
        )
        self.alone = alone


class HostRefusedError(CopycatError):
    """A process that wants to be a host of this executor is not one."""

    code = ErrorCode("host.refused", grpc="PERMISSION_DENIED", http=403)

    def __init__(self, host_id: str) -> None:
        super().__init__(f"{host_id!r} is no host this executor waits for")


class NoSlotError(ConnectError):
    """Every slot of this worker is taken by tasks that share with nobody."""

    def __init__(self, task: Instance, isolation: str, slots: int) -> None:
        self.slots = slots
        """How many there are."""
        super().__init__(
            f"Task {task} (isolation={isolation}) finds no free slot: all {slots} slots of this worker are "
            "taken by tasks that share with nobody. Add a worker, raise N in spark.master=local[N], or relax "
            "isolation.",
            connector=task.connector,
        )


class NoDriverError(ConnectError):
    """Every driver of Spark that this worker may run is taken."""

    def __init__(self, task: Instance, most: int) -> None:
        super().__init__(
            f"Task {task} finds no driver of Spark: this worker runs {most} already, as many as it may. Add "
            "a worker, raise the worker property spark.drivers.max, or stop another connector that Spark "
            "reads.",
            connector=task.connector,
        )


class SparkLostError(CopycatError):
    """Spark's JVM is gone; the executor ends, so that a supervisor starts it again."""

    code = ErrorCode("spark.lost", grpc="UNAVAILABLE", http=500)
