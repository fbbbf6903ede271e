"""The offset service as a process: read the settings, wire, serve until it is stopped."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, aclosing

from copycat_connect.config.placeholders import Placeholders
from copycat_eventlog.open import open_log
from copycat_eventlog.unreadable import Unreadable
from copycat_rpc import role
from copycat_rpc.channel import open_channel
from copycat_rpc.metrics import serving_metrics
from copycat_rpc.secret import cluster_secret
from copycat_rpc.server import RpcServer
from copycat_rpc.tls import services_tls
from copycat_rpc.users.calls import user_calls
from copycat_serving.beside import beside
from copycat_serving.history import keeping_history
from copycat_serving.running import log_reading, serve_events

from copycat_offset.adapters.codec import OffsetCodec
from copycat_offset.adapters.event_sourced import event_sourced
from copycat_offset.adapters.generations import Generations
from copycat_offset.adapters.group_clients import KafkaGroupClients
from copycat_offset.adapters.groups import KafkaGroups
from copycat_offset.adapters.homes import KafkaHomes
from copycat_offset.adapters.samples import CommitSamples
from copycat_offset.adapters.server import register
from copycat_offset.adapters.source_offsets import SourceOffsets
from copycat_offset.adapters.telling import TELLING
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
    tls = services_tls(resolved)
    server = RpcServer(
        settings.listen,
        setting="offset.listen",
        secret=secret,
        users=user_calls(resolved, "offset"),
        tls=tls,
        standby=True,
    )
    generations = Generations()
    placeholders = Placeholders.from_worker(properties, os.environ)
    unreadable = Unreadable()  # of the topics that connectors have of their own
    own = KafkaGroups(settings.bootstrap_servers, settings.client_config)
    async with (
        aclosing(KafkaGroupClients(properties, own, placeholders)) as groups,
        aclosing(KafkaHomes(resolved, settings.own_topics, placeholders, unreadable)) as homes,
        AsyncExitStack() as stack,
        keeping_history(
            server, resolved, settings.log, service="offset", codec=OffsetCodec(), telling=TELLING
        ) as history,
        open_channel(settings.scheduler_addresses, secret=secret, tls=tls) as scheduler,
    ):
        events = event_sourced(open_log(settings.log))
        events.observe(history.recorder)
        samples = CommitSamples(history.keeper, history.settings.sample_seconds)
        await stack.enter_async_context(
            serving_metrics(server, "offset", properties, lambda: [log_reading(events, unreadable)])
        )
        register(server, events, SourceOffsets(events, homes), groups, generations, samples=samples)
        following = beside(lambda: generations.follow(scheduler), samples.run)
        await serve_events(events, server, stop, ready, following)


def main() -> int:
    """Run `python -m copycat_offset worker.properties`."""
    return role.main("offset", serve)
