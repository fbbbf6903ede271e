"""The line between a server and those who use it, which can be cut: a TCP proxy."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from contextlib import suppress
from types import TracebackType
from typing import Any, Final

from copycat_embedded.ports import LOOPBACK

CHUNK_BYTES: Final = 64 * 1024


class Wire:
    """Passes bytes both ways; while it is cut nothing arrives and nobody notices, as when a cable is out.

    What was on its way arrives once the line is mended, as TCP would send it again.
    """

    def __init__(self, port: int, target_port: int, host: str = LOOPBACK) -> None:
        """Use this port to listen on, the server's, and the address to listen on; nothing listens yet."""
        self.address: Final = f"{host}:{port}"
        """Where those who use the server are to call, host:port."""
        self._host = host
        self._port = port
        self._target_port = target_port
        self._loop = asyncio.new_event_loop()
        self._whole = asyncio.Event()
        self._pipes: set[asyncio.Task[Any]] = set()
        self._thread = threading.Thread(target=self._loop.run_forever, name="wire", daemon=True)

    def cut(self) -> None:
        """Let nothing through from now on."""
        self._loop.call_soon_threadsafe(self._whole.clear)

    def mend(self) -> None:
        """Let everything through again."""
        self._loop.call_soon_threadsafe(self._whole.set)

    def __enter__(self) -> Wire:
        """Listen."""
        self._thread.start()
        self._in_loop(self._listen())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close every connection."""
        self._in_loop(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _in_loop(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _listen(self) -> None:
        self._whole.set()
        self._server = await asyncio.start_server(self._connected, self._host, self._port)

    async def _close(self) -> None:
        self._server.close()
        pipes = list(self._pipes)
        for pipe in pipes:
            pipe.cancel()
        await asyncio.gather(*pipes, return_exceptions=True)

    async def _connected(self, near: asyncio.StreamReader, near_out: asyncio.StreamWriter) -> None:
        this = asyncio.current_task()
        if this is not None:
            self._pipes.add(this)
            this.add_done_callback(self._pipes.discard)
        with suppress(OSError):  # an end is gone, which it learns when the other one is closed
            await self._whole.wait()
            far, far_out = await asyncio.open_connection(LOOPBACK, self._target_port)
            try:
                async with asyncio.TaskGroup() as both:
                    both.create_task(self._pass_on(near, far_out))
                    both.create_task(self._pass_on(far, near_out))
            except* (OSError, EOFError):
                pass
            finally:
                far_out.close()
        near_out.close()

    async def _pass_on(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        while chunk := await source.read(CHUNK_BYTES):
            await self._whole.wait()
            target.write(chunk)
            await target.drain()
        await self._whole.wait()
        raise EOFError
