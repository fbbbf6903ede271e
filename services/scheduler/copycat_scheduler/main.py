"""The scheduler as a process: read the settings, wire, serve until told to stop."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing

from copycat.scheduler.v1.scheduler_service_pb2_grpc import add_SchedulerServiceServicer_to_server
from copycat_connect.config.placeholders import Placeholders
from copycat_eventlog.decider import Decider
from copycat_eventlog.handler import EventSourced
from copycat_eventlog.open import open_log
from copycat_rpc import role
from copycat_rpc.channel import open_channel
from copycat_rpc.metrics import telling
from copycat_rpc.secret import cluster_secret
from copycat_rpc.server import RpcServer
from copycat_serving.beside import beside
from copycat_serving.metrics import log_reading
from copycat_serving.running import serve_events
from copycat_telemetry.metrics.registry import Reading

from copycat_scheduler.adapters.clusters import ClusterCatalogs
from copycat_scheduler.adapters.codec import SchedulerCodec
from copycat_scheduler.adapters.connectors import Connectors
from copycat_scheduler.adapters.planning import Bells, Inputs, Planning
from copycat_scheduler.adapters.rebalances import Rebalances
from copycat_scheduler.adapters.server import SchedulerServicer
from copycat_scheduler.adapters.statuses import Statuses
from copycat_scheduler.adapters.topics import KafkaTopics
from copycat_scheduler.adapters.upkeeping import keep_up
from copycat_scheduler.domain.evolve import evolve
from copycat_scheduler.domain.plan import plan
from copycat_scheduler.domain.state import SchedulerState
from copycat_scheduler.settings import read_settings


async def serve(
    properties: Mapping[str, str], stop: asyncio.Event, ready: Callable[[str], None] = lambda _: None
) -> None:
    """Serve until `stop`; calls `ready` with the bound address once caught up.

    Raises:
        CopycatError: The settings are wrong, or the log cannot be read or went away.
    """
    placeholders = Placeholders.from_worker(properties, os.environ)
    own = placeholders.resolve_own(properties)
    settings, secret = read_settings(own), cluster_secret(own)
    events = EventSourced(Decider(SchedulerState(), plan, evolve), SchedulerCodec(), open_log(settings.log))
    server = RpcServer(settings.listen, setting="scheduler.listen", secret=secret)
    bells = Bells()
    loop = asyncio.get_running_loop()
    rebalances, told = Rebalances(settings.windows, loop.time), [""]

    def announce(address: str) -> None:
        told[0] = address
        ready(address)

    def readings() -> Iterable[Reading]:
        return log_reading(events), rebalances.reading(told[0] if events.leads else "")

    with closing(KafkaTopics(settings.bootstrap_servers, settings.client_config)) as topics:
        async with (
            telling(server, "scheduler", properties, readings),
            open_channel(settings.config_addresses, secret=secret) as config,
            open_channel(settings.status_addresses, secret=secret) as status,
        ):
            catalog = ClusterCatalogs(
                topics.read,
                lambda cluster: KafkaTopics(cluster["bootstrap.servers"], cluster),
                placeholders,
                settings.refresh_ms / 1000,
                bells.plan.set,
            )
            statuses = Statuses(status, bells.plan.set, bells.upkeep.set)
            connectors = Connectors(bells.plan.set, placeholders, properties)
            inputs = Inputs(connectors, statuses, catalog)
            planning = Planning(
                events,
                inputs,
                bells,
                lease=settings.lease_ms / 1000,
                delay=settings.delay_ms / 1000,
                rebalances=rebalances,
            )
            servicer = SchedulerServicer(events, planning, settings.lease_ms, stop, topics.cluster_id)
            server.add(
                add_SchedulerServiceServicer_to_server, servicer, "copycat.scheduler.v1.SchedulerService"
            )
            loops = beside(
                planning.run,
                catalog.run,
                statuses.follow,
                lambda: connectors.follow(config),
                lambda: keep_up(planning, statuses, bells.upkeep),
            )
            await serve_events(events, server, stop, announce, loops)


def main() -> int:
    """Run `python -m copycat_scheduler worker.properties`."""
    return role.main("scheduler", serve)
