"""The offset service as a process: read the settings, wire, serve until told to stop."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from contextlib import aclosing

from copycat_connect.config.placeholders import Placeholders
from copycat_eventlog.open import open_log
from copycat_rpc import role
from copycat_rpc.channel import open_channel
from copycat_rpc.metrics import serving_metrics
from copycat_rpc.secret import cluster_secret
from copycat_rpc.server import RpcServer
from copycat_serving.beside import beside
from copycat_serving.metrics import log_reading
from copycat_serving.running import serve_events

from copycat_offset.adapters.event_sourced import event_sourced
from copycat_offset.adapters.generations import Generations
from copycat_offset.adapters.group_clients import KafkaGroupClients
from copycat_offset.adapters.groups import KafkaGroups
from copycat_offset.adapters.server import register
from copycat_offset.settings import read_settings


async def serve(
    properties: Mapping[str, str], stop: asyncio.Event, ready: Callable[[str], None] = lambda _: None
) -> None:
    """Serve until `stop`; calls `ready` with the bound address once caught up.

    Raises:
        CopycatError: The settings are wrong, or the log cannot be read or went away.
    """
    resolved = role.own_properties(properties)
    settings, secret = read_settings(resolved), cluster_secret(resolved)
    log = open_log(settings.log)
    events = event_sourced(log)
    server = RpcServer(settings.listen, setting="offset.listen", secret=secret)
    generations = Generations()
    placeholders = Placeholders.from_worker(properties, os.environ)
    own = KafkaGroups(settings.bootstrap_servers, settings.client_config)
    async with (
        aclosing(KafkaGroupClients(properties, own, placeholders)) as groups,
        serving_metrics(server, "offset", properties, lambda: [log_reading(events)]),
        open_channel(settings.scheduler_addresses, secret=secret) as scheduler,
    ):
        register(server, events, log, groups, generations)
        following = beside(lambda: generations.follow(scheduler))
        await serve_events(events, server, stop, ready, following)


def main() -> int:
    """Run `python -m copycat_offset worker.properties`."""
    return role.main("offset", serve)
