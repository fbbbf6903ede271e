"""The status service as a process: read the settings, wire, serve until it is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from copycat_eventlog.open import open_log
from copycat_rpc import role
from copycat_rpc.metrics import serving_metrics
from copycat_rpc.secret import cluster_secret
from copycat_rpc.server import RpcServer
from copycat_rpc.tls import services_tls
from copycat_rpc.users.calls import user_calls
from copycat_serving.history import keeping_history
from copycat_serving.running import log_reading, serve_events

from copycat_status.adapters.codec import StatusCodec
from copycat_status.adapters.event_sourced import event_sourced
from copycat_status.adapters.retrying import Retrying
from copycat_status.adapters.server import register
from copycat_status.adapters.telling import TELLING
from copycat_status.adapters.writer import StatusWriter
from copycat_status.settings import read_settings


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
        setting="status.listen",
        secret=secret,
        users=user_calls(own, "status"),
        tls=tls,
        standby=True,
    )
    async with keeping_history(
        server, own, settings.log, service="status", codec=StatusCodec(), telling=TELLING
    ) as history:
        events = event_sourced(open_log(settings.log))
        events.observe(history.recorder)
        retrying = Retrying(events, settings.retries.policy)
        writer, counters = StatusWriter(retrying), retrying.counters
        register(server, events, writer, settings.tracking, history.keeper)
        async with serving_metrics(
            server, "status", properties, lambda: [log_reading(events), counters.reading()]
        ):
            await serve_events(events, server, stop, ready, beside=writer.running())


def main() -> int:
    """Run `python -m copycat_status worker.properties`."""
    return role.main("status", serve)
