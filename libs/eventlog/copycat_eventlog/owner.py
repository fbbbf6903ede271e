"""The election: one Faust app of a fixed id; who holds its leader topic may own the log."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, cast

import faust
from aiokafka import AIOKafkaConsumer
from faust.auth import Credentials, OAuthCredentials
from faust.tables.manager import TableManager
from faust.transport.consumer import RecordMap
from faust.transport.drivers.aiokafka import AIOKafkaConsumerThread, Consumer, Transport
from faust.types import TP
from mode.threads import WorkerThread

from copycat_eventlog.clients import Security, read_security, tls_context
from copycat_eventlog.settings import LogSettings
from copycat_eventlog.tokens import TokenProvider
from copycat_eventlog.uncreating import uncreating

#: For the thread to end once it has to; the event loop stands still meanwhile.
_END_SECONDS = 1.0
#: Between two looks for records, in an election without records, and the longest wait of a broker for
#: one; every change of the assignment is heard at once all the same. By default the client looks
#: each 0.2 s, Faust asks it each second, and the broker waits 1.5 s.
_LOOK_SECONDS = 5.0


class _DaemonThread(WorkerThread):
    """Told to stop while the brokers are away, Faust's own may wait for their answer for minutes."""

    def start(self) -> None:
        """Begin as a thread that nobody waits for."""
        self.daemon = True
        super().start()

    def stop(self) -> None:
        """Wait for its end, but not for ever."""
        self.is_stopped.wait(_END_SECONDS)


class _RestfulThread(AIOKafkaConsumerThread):
    def _create_consumer(self, loop: asyncio.AbstractEventLoop) -> AIOKafkaConsumer:
        consumer = uncreating(super()._create_consumer(loop))
        # Faust offers no other way.
        consumer._consumer_timeout = _LOOK_SECONDS  # noqa: SLF001
        consumer._fetch_max_wait_ms = int(_LOOK_SECONDS * 1000)  # noqa: SLF001
        return consumer

    async def _keepalive2(self) -> None:
        """Do not wake the loop of the process each second, which only tests of Faust need."""


class _RestfulConsumer(Consumer):
    def _new_consumer_thread(self) -> AIOKafkaConsumerThread:
        return _RestfulThread(self, loop=self.loop, beacon=self.beacon, Worker=_DaemonThread)

    async def _getmany(self, active_partitions: set[TP] | None, timeout: float) -> RecordMap:
        """Ask the other thread seldom; it has to be asked, or the member counts as one that hangs."""
        del timeout
        await self.sleep(_LOOK_SECONDS)
        return await super()._getmany(active_partitions, 0.0)


class _DaemonTransport(Transport):
    """Faust's transport to Kafka with a consumer that never keeps a process from ending."""

    Consumer = _RestfulConsumer


#: Where Faust's services say that they start and stop: silent as all of Faust's loggers.
SILENT_LOGGER = logging.getLogger("faust.copycat")


#: Between two commits of an election, in which there is nothing to commit.
COMMIT_SECONDS = 60.0
#: For saying goodbye to brokers, which do not answer while they are away.
LEAVE_TIMEOUT_SECONDS = 3.0


async def ended_within(seconds: float, work: Awaitable[None]) -> None:
    """Wait for work that ends something, no longer than so many seconds; cancelled, it may take them again.

    aiokafka's consumers may end with a CancelledError of their own while the brokers are away.
    """
    task = asyncio.ensure_future(work)
    await asyncio.wait((task,), timeout=seconds)
    task.cancel()
    await asyncio.wait((task,), timeout=seconds)
    if task.done() and not task.cancelled() and (failure := task.exception()) is not None:
        raise failure


class _NoTables(TableManager):
    """Spares the second for which the start of an app waits for tables to be declared."""

    logger = SILENT_LOGGER

    async def sleep(self, n: object) -> None:
        """Let others run."""
        await asyncio.sleep(0)


def owner_group(owner_id: str) -> str:
    """The consumer group, and Faust app id, that elects the owner of a log."""
    return f"{owner_id}-owner"


def owner_topic(owner_id: str) -> str:
    """The topic whose one partition is the leadership."""
    return f"{owner_group(owner_id)}-__assignor-__leader"


class _Diskless(faust.App):
    """Makes no folder: all is in memory, and the folder of a process that is killed would stay."""

    logger = SILENT_LOGGER

    async def on_first_start(self) -> None:
        """Spare the folders of tables."""

    def _new_transport(self) -> _DaemonTransport:
        return _DaemonTransport(self.conf.broker_consumer, self)


class _Unmeasured(faust.Monitor):
    """Samples nothing, each second otherwise: nobody asks."""

    @faust.Service.task
    async def _sampler(self) -> None:
        """End at once, where Faust would sample its own figures for as long as it runs."""


class Election:
    """A hint who should write: stale while the brokers are away. The fence is what protects the log (I3)."""

    def __init__(self, settings: LogSettings, client_id: str, on_result: Callable[[bool], None]) -> None:
        """Build it; after every rebalance the event loop calls `on_result` with whether this one won."""
        self._on_result = on_result
        self._app = _Diskless(
            owner_group(settings.owner_id),
            broker=";".join(f"kafka://{server.strip()}" for server in settings.bootstrap_servers.split(",")),
            broker_credentials=_credentials(read_security(settings.client_config)),
            broker_client_id=client_id,
            broker_session_timeout=settings.session,
            broker_heartbeat_interval=1.5,
            broker_request_timeout=settings.session + 14.0,
            broker_rebalance_timeout=settings.session,
            broker_commit_interval=COMMIT_SECONDS,
            consumer_auto_offset_reset="latest",
            consumer_metadata_max_age_ms=30_000,
            topic_partitions=1,
            # The topic is made before the election; Faust accepts no -1, the broker's default.
            topic_replication_factor=max(1, settings.replication_factor),
            store="memory://",
            stream_recovery_delay=0.0,
            TableManager=_NoTables,
            Monitor=_Unmeasured,
            web_enabled=False,
            worker_redirect_stdouts=False,
        )
        self._app.on_partitions_assigned.connect(cast("Any", self._assigned), weak=False)

    @property
    def app(self) -> faust.App:
        """The Faust app, for services that live and die with it."""
        return self._app

    async def start(self) -> None:
        """Join; the first result comes soon, or when the members that crashed have timed out."""
        await self._app.start()

    async def stop(self) -> None:
        """Leave, so that another instance is elected at once; wait no longer than seconds for brokers."""
        leaving = asyncio.create_task(self._app.stop())
        await asyncio.wait((leaving,), timeout=LEAVE_TIMEOUT_SECONDS)
        if not leaving.done():
            self._hang_up()
        await ended_within(LEAVE_TIMEOUT_SECONDS, leaving)

    async def crashed(self) -> BaseException:
        """Return only when Faust has crashed: it ends neither the process nor itself."""
        await self._app.wait_until_stopped()
        while not self._app.crashed:
            await asyncio.Event().wait()  # stopped on purpose
        reason: BaseException | None = self._app.crash_reason
        return reason or RuntimeError("Faust crashed")

    def _hang_up(self) -> None:
        """Close the connections: Faust's thread would wait 20 s and longer for an answer."""
        thread: Any = cast("Any", self._app.consumer)._thread  # noqa: SLF001 - Faust offers no other way
        if thread._consumer is None or thread.thread_loop.is_closed():  # noqa: SLF001 - likewise
            return
        closing = thread._consumer._client.close()  # noqa: SLF001 - likewise
        asyncio.run_coroutine_threadsafe(closing, thread.thread_loop)

    async def _assigned(self, app: faust.App, *_: object, **__: object) -> None:
        # Signals reach the receivers of every app in the process.
        if app is self._app:
            # Since the revocation nobody was elected; to keep the log meanwhile is safe, fenced as it is.
            self._on_result(app.is_leader())


def _credentials(security: Security) -> Credentials | None:
    context = tls_context(security)
    if security.oauth is not None:
        return OAuthCredentials(oauth_cb=TokenProvider(security.oauth), ssl_context=context)
    if security.authenticated:
        return faust.SASLCredentials(
            username=security.username,
            password=security.password,
            mechanism=security.mechanism,
            ssl_context=context,
        )
    return None if context is None else faust.SSLCredentials(context)
