"""The history of one service put together: what keeps it, what records it, what answers for it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

from copycat_eventlog.log import Codec
from copycat_eventlog.past.keeper import ChangesKeeper
from copycat_eventlog.past.open import open_keeper, past_changes
from copycat_eventlog.past.own_log import Describing
from copycat_eventlog.past.settings import ChangesSettings
from copycat_eventlog.settings import LogSettings
from copycat_rpc.server import RpcServer

from copycat_serving.history.recorder import Recorder
from copycat_serving.history.servicer import register_history

E = TypeVar("E")
S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class KeptHistory(Generic[E, S]):
    """What the parts of a service use of it."""

    keeper: ChangesKeeper
    """For changes that are in no log."""
    recorder: Recorder[E, S]
    """For the events of the log."""
    settings: ChangesSettings
    """How they are kept."""


@asynccontextmanager
async def keeping_history(
    server: RpcServer,
    properties: Mapping[str, str],
    log: LogSettings,
    *,
    service: str,
    codec: Codec[E],
    telling: Describing[E, S],
) -> AsyncIterator[KeptHistory[E, S]]:
    """Keep the changes of a service and answer for them; enter before the server starts.

    Raises:
        ConfigError: A setting of the changes topic is wrong.
    """
    settings = ChangesSettings.read(properties, log, service)
    keeper = open_keeper(settings)
    register_history(server, past_changes(settings, keeper, codec, telling))
    try:
        yield KeptHistory(keeper, Recorder(keeper, telling), settings)
    finally:
        await keeper.close()
