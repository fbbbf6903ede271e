"""The embedded broker as a program of the supervisor."""

from __future__ import annotations

import asyncio

from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.guard import Guard

from copycat_launcher.polling import until
from copycat_launcher.program import how_it_ended


class BrokerProcess:
    """The broker, always on the same port: the roles know it."""

    name = "Kafka"

    def __init__(self, broker: EmbeddedKafka, guard: Guard) -> None:
        """Take a broker with a fixed port."""
        self._broker = broker
        self._guard = guard
        self._watched = 0

    @property
    def log(self) -> str:
        """Where to read what it wrote."""
        return str(self._broker.log)

    async def start(self) -> None:
        """Verify its jars and start it."""
        await asyncio.to_thread(self._broker.launch)
        self._watched = self._broker.process_id
        self._guard.watch(self._watched)

    async def ready(self) -> None:
        """Return once clients may use it."""
        await until(self._is_ready)

    async def ended(self) -> str:
        """Wait until it ends and return how."""
        await until(self._has_ended)
        code = self._broker.exit_code()
        await self.stop()
        return how_it_ended(code or 0)

    async def stop(self) -> None:
        """Stop it cleanly; the first stop on a machine takes some seconds longer."""
        await asyncio.to_thread(self._broker.stop)
        self._forget()

    async def kill(self) -> None:
        """End it by force."""
        await asyncio.to_thread(self._broker.kill)
        self._forget()

    def last_words(self) -> str:
        """Return the last error it wrote."""
        text = (
            self._broker.log.read_text(encoding="utf-8", errors="replace")
            if self._broker.log.exists()
            else ""
        )
        return next((line for line in reversed(text.splitlines()) if " ERROR " in line), "")

    async def _is_ready(self) -> bool:
        return self._broker.is_ready()

    async def _has_ended(self) -> bool:
        return self._broker.exit_code() is not None

    def _forget(self) -> None:
        if self._watched:
            self._guard.forget(self._watched)
            self._watched = 0
