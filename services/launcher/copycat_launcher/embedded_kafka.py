"""The Kafka an embedded Copycat works on: the one it was given, or one of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.guard import Guard
from copycat_embedded.ports import LOOPBACK, free_ports
from copycat_serving.beside import beside

from copycat_launcher.broker_process import BrokerProcess
from copycat_launcher.data_dir import DataDir
from copycat_launcher.errors import StartError
from copycat_launcher.log_files import keep_small
from copycat_launcher.program import why_it_ended


@asynccontextmanager
async def kafka_in(folder: DataDir) -> AsyncIterator[str]:
    """Run a Kafka whose data is in a folder; yields its bootstrap servers.

    Raises:
        CopycatError: The folder is in use, or the broker does not start or ends.
    """
    async with folder.locked() as lock:
        with Guard(holding=(lock,)) as guard:
            port = free_ports(1)[0]
            broker = BrokerProcess(EmbeddedKafka(folder.kafka, port, folder.log("kafka")), guard)
            await broker.start()
            try:
                async with beside(partial(_ended, broker), partial(keep_small, folder.logs)):
                    await broker.ready()
                    yield f"{LOOPBACK}:{port}"
            finally:
                await broker.stop()


async def _ended(broker: BrokerProcess) -> None:
    how = await broker.ended()
    message = f"The embedded Kafka ended ({how}){why_it_ended(broker, how)}. Its log says more: {broker.log}"
    raise StartError(message)
