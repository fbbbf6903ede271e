"""The executor put together: every part is made once, from parts that exist already, in the order below.

Two parts are made before who hears them: the processes of connectors, and the hosts. `listen` connects each
with its listener, once and before anything runs.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from copycat.executor.v1 import executor_service_pb2_grpc
from copycat.host.v1 import host_service_pb2_grpc
from copycat_connect.config.delivery import ExactlyOnceSources
from copycat_connect.config.worker_keys import SPAN_ENDPOINT
from copycat_rpc.acts import ActReporter
from copycat_rpc.reach import reach
from copycat_rpc.server import RpcServer
from copycat_rpc.services import ServiceStubs
from copycat_telemetry.metrics.sampled import Windows
from copycat_telemetry.recent_spans import RecentSpans

from copycat_executor.background import BackgroundJobs, ChangeSignal
from copycat_executor.children.connector_processes import ConnectorProcesses
from copycat_executor.children.query_engine import Queries
from copycat_executor.connectors.connector_actions import ConnectorActions
from copycat_executor.connectors.connector_calls import ConnectorCalls
from copycat_executor.connectors.connector_lifecycle import ConnectorLifecycle
from copycat_executor.connectors.process_events import ProcessEvents, Reloading
from copycat_executor.connectors.publishing import Publishing
from copycat_executor.domain.placement import ResidencyRules
from copycat_executor.hosts import host_server
from copycat_executor.hosts.host_pool import HostPool, Launcher
from copycat_executor.hosts.host_pools import DRIVER, DRIVER_LAUNCH_TIMEOUT_SECONDS, HostPools
from copycat_executor.metrics.worker_meter import WorkerMeter
from copycat_executor.outbox.commit_outbox import CommitOutbox
from copycat_executor.outbox.fencing import TaskFencing
from copycat_executor.outbox.offset_reader import OffsetReader
from copycat_executor.outbox.status_outbox import StatusOutbox
from copycat_executor.outbox.topic_outbox import TopicOutbox
from copycat_executor.outbox.trouble_outbox import TroubleOutbox
from copycat_executor.state.feed import Feed
from copycat_executor.state.lease import WorkerLease
from copycat_executor.state.recovery import Recovery
from copycat_executor.state.runs import Runs
from copycat_executor.taskhost.spec import HostTls
from copycat_executor.tasks.task_actions import Budgets, TaskActions
from copycat_executor.tasks.task_events import TaskEvents, TaskQuestions
from copycat_executor.tasks.task_lifecycle import TaskLifecycle
from copycat_executor.tasks.task_starts import TaskStarts
from copycat_executor.worker import executor_server
from copycat_executor.worker.conductor import Conductor
from copycat_executor.worker.executor import Executor
from copycat_executor.worker.membership import Membership, ReachOf
from copycat_executor.worker.restarting import Restarting
from copycat_executor.worker.watches import ConfigWatch, LogLevels


@dataclass(frozen=True, slots=True)
class Limits:
    """Times and numbers that the settings set."""

    residency: ResidencyRules
    """How many hosts there may be, and how long they stay."""
    drivers: ResidencyRules
    """The same of drivers of Spark."""
    budgets: Budgets
    """How long tasks may take to end."""
    plugin_call: float
    """For author code of a connector, seconds."""
    max_tasks: int
    """Of one connector."""
    topic_tracking: bool
    """Whether active topics are recorded."""
    log_level: str
    """Of hosts."""
    windows: Windows
    """Over which metrics are sampled."""


@dataclass(frozen=True, slots=True)
class ExecutorSurroundings:
    """What an executor works with and does not make itself; tests give parts of their own."""

    server: RpcServer
    """Bound and not started: hosts and the gateway call it."""
    services: ServiceStubs
    """The other services."""
    launcher: Launcher
    """Runs hosts."""
    processes: ConnectorProcesses
    """They run author code of connectors; the one that all share may run already."""
    queries: Queries
    """The query engine."""
    jobs: BackgroundJobs
    """Runs what goes on in the background."""
    drivers: Launcher
    """Runs drivers of Spark."""
    reach: ReachOf = reach
    """Asks whether somebody listens at an address, within some seconds."""


def wire(
    worker_id: str,
    worker: Mapping[str, str],
    limits: Limits,
    given: ExecutorSurroundings,
    *,
    host_token: str,
    host_tls: Callable[[], HostTls | None] = lambda: None,
) -> Executor:
    """Make an executor and add its servicers to the server; nothing runs yet.

    Args:
        worker_id: The `host:port` at which hosts and the gateway reach the server.
        worker: The worker's configuration, which every task gets.
        limits: What the settings allow.
        given: What it works with.
        host_token: What hosts prove themselves with. They run code of plugins: it opens the service of hosts
            on this executor, and nothing else.
        host_tls: Returns what they encrypt with.
    """
    services, processes, jobs = given.services, given.processes, given.jobs
    changes = ChangeSignal()
    lease = WorkerLease(time.monotonic)
    runs = Runs(changes, WorkerMeter(limits.windows, clock=time.monotonic, wall=time.time))
    feed = Feed(worker_id, changes, lease)
    statuses = StatusOutbox(worker_id, services, feed.is_configured)
    topics = TopicOutbox(services, feed.is_configured, tracking=limits.topic_tracking)
    commits = CommitOutbox(services, jobs, feed.generation_for)
    offsets = OffsetReader(services)
    make_pool = partial(
        HostPool,
        address=worker_id,
        token=host_token,
        log_level=limits.log_level,
        failed_plugins=processes.failed_plugins,
        lease=lambda: lease.length,
        tls=host_tls,
        span_endpoint=worker.get(SPAN_ENDPOINT.name) or "",
    )
    hosts = HostPools(
        make_pool(given.launcher, limits.residency),
        make_pool(
            given.drivers,
            limits.drivers,
            kind=DRIVER,
            launch_timeout=DRIVER_LAUNCH_TIMEOUT_SECONDS,
            in_turn=True,  # a JVM that starts takes all processors, and what it starves is taken for dead
        ),
        processes.is_on_spark,
    )
    spans = RecentSpans(time.monotonic)
    acts = ActReporter(services.status, f"worker {worker_id}")
    troubles = TroubleOutbox(worker_id, services, feed.generation_for, acts)
    recovery = Recovery(jobs, worker, acts, clock=time.monotonic, random=random.random)
    exactly_once = ExactlyOnceSources.of(worker)
    lifecycle = TaskLifecycle(runs, feed, hosts, statuses=statuses, troubles=troubles, recovery=recovery)
    starts = TaskStarts(lifecycle, recovery, hosts, offsets=offsets, spans=spans, worker=worker)
    tasks = TaskActions(runs, lifecycle, starts, hosts, jobs=jobs, budgets=limits.budgets)
    events = TaskEvents(runs, lifecycle, recovery, commits=commits, topics=topics, exactly_once=exactly_once)
    fencing = TaskFencing(services, worker_id, feed.generation_for)
    questions = TaskQuestions(runs, offsets, fencing, given.queries, jobs=jobs, exactly_once=exactly_once)
    hosts.listen(events)
    calls = ConnectorCalls(processes, limits.plugin_call)
    connector_lifecycle = ConnectorLifecycle(feed, statuses, troubles, recovery)
    publishing = Publishing(calls, connector_lifecycle, services, feed, changes, max_tasks=limits.max_tasks)
    connectors = ConnectorActions(runs, connector_lifecycle, calls, publishing, jobs=jobs, spans=spans)
    processes.listen(ProcessEvents(connectors, Reloading(services, jobs), given.queries, jobs))
    restarting = Restarting(runs, feed, statuses, recovery)
    given.server.add(
        host_service_pb2_grpc.add_HostServiceServicer_to_server,
        host_server.HostServer(hosts, events, questions, lease.remaining),
        host_server.SERVICE_NAME,
        secret=host_token,
    )
    given.server.add(
        executor_service_pb2_grpc.add_ExecutorServiceServicer_to_server,
        executor_server.ExecutorServer(processes, restarting, limits.plugin_call),
        executor_server.SERVICE_NAME,
    )
    return Executor(
        runs=runs,
        feed=feed,
        lease=lease,
        hosts=hosts,
        statuses=statuses,
        topics=topics,
        troubles=troubles,
        acts=acts,
        config_watch=ConfigWatch(
            services,
            feed,
            restarting=restarting,
            levels=LogLevels(processes, given.queries, hosts),
            statuses=statuses,
            topics=topics,
            spans=spans,
        ),
        conductor=Conductor(runs, feed, connectors, tasks),
        membership=Membership(worker_id, services, runs, lease, given.reach),
        services=services,
        budgets=limits.budgets,
        jobs=jobs,
    )
