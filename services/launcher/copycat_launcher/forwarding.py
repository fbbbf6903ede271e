"""One local address for a service that moves between processes: connections are passed on to where it is."""

from __future__ import annotations

import asyncio

from copycat_connect.first import first

LOOPBACK = "127.0.0.1"
CHUNK_BYTES = 64 * 1024


class Forwarder:
    """Listens on loopback and passes bytes on; knows nothing of what they mean.

    gRPC's channels take their addresses once. Behind a forwarder the callers of this process keep one address
    for ever, and a lost connection, which they know how to mend, is all they notice of a move.
    """

    def __init__(self) -> None:
        """Listen nowhere yet."""
        self._server: asyncio.Server | None = None
        self._target = ""
        self._links: set[asyncio.Task[None]] = set()

    async def start(self) -> str:
        """Listen; returns the `host:port` that stands for the service."""
        self._server = await asyncio.start_server(self._accept, LOOPBACK, 0)
        return f"{LOOPBACK}:{self._server.sockets[0].getsockname()[1]}"

    def lead_to(self, target: str) -> None:
        """Pass connections on to `host:port` from now on; those that lead elsewhere are cut."""
        if target != self._target:
            self._target = target
            self._cut()

    async def stop(self) -> None:
        """Accept no more connections and cut the present ones."""
        if self._server is not None:
            self._server.close()
        links = tuple(self._links)
        self._cut()
        await asyncio.gather(*links, return_exceptions=True)

    def _cut(self) -> None:
        for link in self._links:
            link.cancel()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        link = asyncio.create_task(_link(self._target, reader, writer))
        self._links.add(link)
        link.add_done_callback(self._links.discard)


async def _link(target: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Join a connection to a new one, until either side ends."""
    host, _, port = target.rpartition(":")
    try:
        far_reader, far_writer = await asyncio.open_connection(host, port)
    except OSError:  # nobody is there at the moment; the caller tries again
        writer.close()
        return
    except asyncio.CancelledError:
        writer.close()
        raise
    try:
        await first(_pump(reader, far_writer), _pump(far_reader, writer))
    finally:
        writer.close()
        far_writer.close()


async def _pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    try:
        while chunk := await source.read(CHUNK_BYTES):
            target.write(chunk)
            await target.drain()
    except ConnectionError:
        return  # one side is gone, which ends the other
