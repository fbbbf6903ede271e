"""The Kafka an embedded Copycat works on: the one it was given, or one of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial

from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.guard import Guard
from copycat_embedded.ports import LOOPBACK, free_ports
from copycat_embedded.private_listener import PrivateListener
from copycat_serving.beside import beside

from copycat_launcher.broker_process import BrokerProcess
from copycat_launcher.data_dir import DataDir
from copycat_launcher.errors import StartError
from copycat_launcher.log_files import keep_small
from copycat_launcher.program import why_it_ended
from copycat_launcher.worker_properties import login_properties


@asynccontextmanager
async def kafka_in(folder: DataDir, names: Mapping[str, str]) -> AsyncIterator[dict[str, str]]:
    """Run a Kafka whose data is in a folder; yields the worker properties with which Copycat logs in to it.

    `names`: worker properties that name the group and the topics, which nobody else may touch.

    Raises:
        CopycatError: The folder is in use, or the broker does not start or ends.
    """
    async with folder.locked() as lock:
        with Guard(holding=(lock,)) as guard:
            port, private = free_ports(1)[0], PrivateListener.new()
            kafka = EmbeddedKafka(folder.kafka, port, folder.log("kafka"), private=private)
            broker = BrokerProcess(kafka, guard, names)
            await broker.start()
            try:
                async with beside(partial(_ended, broker), partial(keep_small, folder.logs)):
                    await broker.ready()
                    yield {
                        "bootstrap.servers": private.bootstrap,
                        **login_properties(private, f"{LOOPBACK}:{port}"),
                    }
            finally:
                await broker.stop()


async def _ended(broker: BrokerProcess) -> None:
    how = await broker.ended()
    raise StartError(
        f"The embedded Kafka ended ({how}){why_it_ended(broker, how)}. Its log says more: {broker.log}"
    )
