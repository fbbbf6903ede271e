"""The config service as a process: read the settings, wire, serve until it is stopped."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from contextlib import aclosing

from copycat_connect.config.placeholders import Placeholders
from copycat_eventlog.open import open_log
from copycat_eventlog.settings import Backend
from copycat_rpc import role
from copycat_rpc.metrics import serving_metrics
from copycat_rpc.secret import cluster_secret
from copycat_rpc.server import RpcServer
from copycat_rpc.tls import services_tls
from copycat_rpc.users.calls import user_calls
from copycat_serving.history import keeping_history
from copycat_serving.running import log_reading, serve_events

from copycat_config.adapters.codec import ConfigCodec
from copycat_config.adapters.event_sourced import event_sourced
from copycat_config.adapters.fencing import Fencing, FormerTasks
from copycat_config.adapters.former_tasks import KafkaFormerTasks, NoFormerTasks
from copycat_config.adapters.server import register
from copycat_config.adapters.telling import TELLING
from copycat_config.settings import ConfigServiceSettings, read_settings


async def serve(
    properties: Mapping[str, str], stop: asyncio.Event, ready: Callable[[str], None] = lambda _: None
) -> None:
    """Serve until `stop`; calls `ready` with the bound address once caught up.

    Raises:
        CopycatError: The settings are wrong, or the log cannot be read or went away.
    """
    own = role.own_properties(properties)
    settings, secret = read_settings(own), cluster_secret(own)
    tls = services_tls(own)
    server = RpcServer(
        settings.listen,
        setting="config.listen",
        secret=secret,
        users=user_calls(own, "config"),
        tls=tls,
        standby=True,
    )
    async with keeping_history(
        server, own, settings.log, service="config", codec=ConfigCodec(), telling=TELLING
    ) as history:
        events = event_sourced(open_log(settings.log))
        events.observe(history.recorder)
        async with (
            aclosing(Fencing(events, _former_tasks(settings, properties))) as fencing,
            serving_metrics(server, "config", properties, lambda: [log_reading(events)]),
        ):
            register(server, events, fencing)
            await serve_events(events, server, stop, ready)


def _former_tasks(settings: ConfigServiceSettings, properties: Mapping[str, str]) -> FormerTasks:
    if settings.log.backend is Backend.MEMORY:
        return NoFormerTasks()
    return KafkaFormerTasks(properties, settings.group, Placeholders.from_worker(properties, os.environ))


def main() -> int:
    """Run `python -m copycat_config worker.properties`."""
    return role.main("config", serve)
