"""What is to be done about tasks: started, paused, resumed, drained."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from copycat.host.v1 import host_service_pb2 as pb
from copycat_connect.cluster import Instance, TargetState
from copycat_rpc.messages import target_state_to_proto

from copycat_executor.background import BackgroundJobs
from copycat_executor.domain.desired import WantedTask
from copycat_executor.domain.running import Phase
from copycat_executor.hosts.host_pools import HostPools
from copycat_executor.hosts.launched_host import LaunchedHost
from copycat_executor.state.runs import Runs, TaskStart
from copycat_executor.tasks.task_lifecycle import TaskLifecycle
from copycat_executor.tasks.task_starts import TaskStarts

#: The way to the host and back may add this to a drain.
DRAIN_MARGIN_SECONDS = 1.5


@dataclass(frozen=True, slots=True)
class Budgets:
    """How long ends may take, seconds."""

    drain: float
    """For a task to drain (`task.shutdown.graceful.timeout.ms`)."""
    commit: float
    """For its last acknowledgement to be committed (`offset.flush.timeout.ms`)."""


class TaskActions:
    """Carries out what is to be done about tasks; each action returns at once."""

    def __init__(
        self,
        runs: Runs,
        lifecycle: TaskLifecycle,
        starts: TaskStarts,
        hosts: HostPools,
        *,
        jobs: BackgroundJobs,
        budgets: Budgets,
    ) -> None:
        self._runs = runs
        self._lifecycle = lifecycle
        self._starts = starts
        self._hosts = hosts
        self._jobs = jobs
        self._budgets = budgets

    def start(self, wanted: WantedTask) -> None:
        """Send a task into a host; returns at once, its events report what becomes of it."""
        start = self._lifecycle.begin(wanted)
        start.job = self._jobs.spawn(self._starts.run(start), f"start of task {wanted.instance}")

    def set_target(self, instance: Instance, target: TargetState) -> None:
        """Pause or resume a task; one on its way into a host begins in its new target state."""
        run = self._runs.task(instance)
        run.change(target=target)
        if run.start is not None and run.start.host is not None:
            state = pb.SetTaskState(task=run.start.ref, target_state=target_state_to_proto(target))
            run.start.host.send(pb.AttachResponse(set_task_state=state))

    def stop(self, instance: Instance) -> None:
        """Drain a task; then it has left."""
        run = self._runs.task(instance)
        self._starts.end_wait(run)
        if run.start is None:  # it failed: nothing of it is left
            self._lifecycle.leave(run)
            return
        run.change(phase=Phase.STOPPING)
        self._jobs.spawn(self._stop(run.start), f"stop of task {instance}")

    async def _stop(self, start: TaskStart) -> None:
        if start.job is not None:
            start.job.cancel()
            await asyncio.gather(start.job, return_exceptions=True)
        if start.host is not None:
            await self._drain(start, start.host)
        await start.run.progress.flushed(self._budgets.commit)
        self._lifecycle.stopped(start)

    async def _drain(self, start: TaskStart, host: LaunchedHost) -> None:
        timeout_ms = int(self._budgets.drain * 1000)
        host.send(pb.AttachResponse(stop_task=pb.StopTask(task=start.ref, timeout_ms=timeout_ms)))
        try:
            async with asyncio.timeout(self._budgets.drain + DRAIN_MARGIN_SECONDS):
                await start.ended.wait()
        except TimeoutError:
            start.hung = True
        if start.hung:
            await self._hosts.abandon(host, start.instance)
