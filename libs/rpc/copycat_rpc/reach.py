"""Whether a process is there at an address, as its kernel knows: that answers where the process cannot."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from enum import Enum, auto


class Reach(Enum):
    """What a connection to an address comes to."""

    ACCEPTED = auto()
    """A process listens there, which may be frozen or hang."""
    REFUSED = auto()
    """The machine is there, and no process listens."""
    SILENT = auto()
    """Nothing comes back: the machine or the way to it is gone, or the address cannot be resolved."""


async def reach(address: str, timeout: float) -> Reach:
    """Return what a connection to `host:port` comes to within some seconds."""
    host, _, port = address.rpartition(":")
    if not port.isdigit():
        return Reach.SILENT
    try:
        async with asyncio.timeout(timeout):
            _, writer = await asyncio.open_connection(host.strip("[]"), int(port))
    except ConnectionRefusedError:
        return Reach.REFUSED
    except (OSError, TimeoutError):
        return Reach.SILENT
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return Reach.ACCEPTED
