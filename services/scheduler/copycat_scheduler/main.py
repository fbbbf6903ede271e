"""The scheduler as a process: read the settings, wire, serve until it is stopped."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing

from copycat_connect.config.placeholders import Placeholders
from copycat_eventlog.open import open_log
from copycat_rpc import role
from copycat_rpc.channel import open_channel
from copycat_rpc.metrics import serving_metrics
from copycat_rpc.secret import cluster_secret
from copycat_rpc.server import RpcServer
from copycat_rpc.tls import services_tls
from copycat_rpc.users.calls import user_calls
from copycat_serving.beside import beside
from copycat_serving.running import log_reading, serve_events
from copycat_telemetry.metrics.definitions import Reading

from copycat_scheduler.adapters.event_sourced import event_sourced
from copycat_scheduler.adapters.rebalances import Rebalances
from copycat_scheduler.adapters.topics import PartitionCounts
from copycat_scheduler.adapters.wiring import Neighbours, Times, wire
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
    tls = services_tls(own)
    events = event_sourced(open_log(settings.log))
    server = RpcServer(
        settings.listen,
        setting="scheduler.listen",
        secret=secret,
        users=user_calls(own, "scheduler"),
        tls=tls,
        standby=True,
    )
    rebalances = Rebalances(settings.metrics.windows, asyncio.get_running_loop().time)
    bound = ""

    def announce(address: str) -> None:
        nonlocal bound
        bound = address
        ready(address)

    def readings() -> Iterable[Reading]:
        return log_reading(events), rebalances.reading(bound if events.leads else "")

    with closing(PartitionCounts(settings.bootstrap_servers, settings.client_config)) as topics:
        async with (
            serving_metrics(server, "scheduler", properties, readings),
            open_channel(settings.config_addresses, secret=secret, tls=tls) as config,
            open_channel(settings.status_addresses, secret=secret, tls=tls) as status,
        ):
            neighbours = Neighbours(config, status, topics.read, _open_topics, topics.cluster_id)
            loops = wire(
                server,
                events,
                neighbours,
                times=Times(settings.lease_ms, settings.delay_ms, settings.refresh_ms),
                rebalances=rebalances,
                placeholders=placeholders,
                properties=properties,
                stop=stop,
                tls=tls,
            )
            await serve_events(events, server, stop, announce, beside(*loops))


def _open_topics(client: Mapping[str, str]) -> PartitionCounts:
    return PartitionCounts(client["bootstrap.servers"], client)


def main() -> int:
    """Run `python -m copycat_scheduler worker.properties`."""
    return role.main("scheduler", serve)
