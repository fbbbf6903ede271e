"""Copycat inside an application: KIP-26's embedded mode."""

from __future__ import annotations

import asyncio
import os
import ssl
import sys
import threading
import time
from collections.abc import AsyncIterator, Coroutine, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, TypeVar

import platformdirs
from copycat_cli.api.statuses import failed, reason
from copycat_cli.connector_files import ConnectorFile
from copycat_connect.config.worker_keys import BROKER_DATA_DIR
from copycat_connect.errors import ConfigError
from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.guard import Guard
from copycat_embedded.ports import LOOPBACK, free_ports
from copycat_embedded.private_listener import PrivateListener
from copycat_embedded.spark_java import spark_java_home
from copycat_rpc.role import heeding_interrupts
from copycat_serving.beside import beside

from copycat_launcher.broker_process import BrokerProcess, check_reachable
from copycat_launcher.data_dir import DataDir
from copycat_launcher.errors import ConnectorStartError, StartError
from copycat_launcher.log_files import keep_small
from copycat_launcher.member import Member, MemberAddress
from copycat_launcher.operations import POLL_SECONDS, Operations, submit
from copycat_launcher.supervisor import why_it_ended
from copycat_launcher.worker_properties import embedded_names, login_properties

R = TypeVar("R")
START_SECONDS = 180.0
TOPICS_SECONDS = 30.0


class Copycat(Operations):
    """One copy of Copycat, in threads of this process; its calls block and may come from any thread.

    Copies of one app id on the same brokers are one cluster (the app id is its `group.id`): connectors and
    tasks are spread evenly over them, and move when a copy comes, leaves or dies. One copy a process.

    Without `stop`, or a `with` block, the end of the process is a crash: nothing is lost, the last seconds
    may be repeated.
    """

    _alone: ClassVar[threading.Lock] = threading.Lock()  # Spark allows one context a process

    def __init__(
        self,
        app_id: str,
        bootstrap_servers: str = "",
        *,
        host: str = "127.0.0.1",
        settings: Mapping[str, str] | None = None,
        data_dir: Path | None = None,
    ) -> None:
        """Prepare; nothing starts yet.

        Args:
            app_id: Names the cluster, its consumer groups and its topics.
            bootstrap_servers: The brokers, `host:port,...`; none: a Kafka of its own, kept in `data_dir`.
            host: At which name or address copies on other machines reach this one; `settings` then has to
                name a `cluster.secret`, the same for all copies.
            settings: Worker properties, as in Kafka Connect, that win over Copycat's own.
            data_dir: Folder of the own Kafka and of the secret that copies on this machine share; by default
                one named by the app id in the user's data folder.

        Raises:
            ConfigError: The app id is empty.
        """
        if not app_id:
            raise ConfigError("The app id is empty. Name the application, for example Copycat('orders')")
        self.app_id = app_id
        self._bootstrap = bootstrap_servers
        self._data_dir = data_dir or platformdirs.user_data_path("copycat", appauthor=False) / app_id
        folder = self._data_dir.resolve()
        where = {} if bootstrap_servers else {BROKER_DATA_DIR.name: str(DataDir(folder).kafka)}
        self._member = Member(app_id, host, {**where, **(settings or {})}, folder)
        self._loop: Future[asyncio.AbstractEventLoop] = Future()
        self._place: Future[MemberAddress] = Future()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name=f"copycat-{app_id}", daemon=True)
        self._failure: Exception | None = None
        self._unnamed: dict[str, Mapping[str, str]] = {}

    def start(self, timeout: float = START_SECONDS) -> Copycat:
        """Start, and return this object once connectors can be added.

        Raises:
            ConfigError: A setting is wrong.
            StartError: This copy or another one of this process was started before, no broker answers, or
                the start takes longer than `timeout` seconds.
        """
        if self._thread.ident is not None or not self._alone.acquire(blocking=False):
            raise StartError(
                f"{self} cannot start: this process has started a Copycat before; stop that one, make a new"
            )
        self._thread.start()
        try:
            self._place.result(timeout)
        except TimeoutError:
            self.stop()
            raise StartError(
                f"{self} was not ready within {timeout:g} s; the log says what it waits for"
            ) from None
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Drain and end: tasks flush, commit and move to other copies. Safe in a signal handler."""
        if self._thread.ident is None:
            return
        with suppress(RuntimeError):  # it has ended already
            self._loop.result().call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def join(self, timeout: float | None = None) -> None:
        """Wait for the end, at most `timeout` seconds.

        Raises:
            CopycatError: It ended without having been asked to.
            KeyboardInterrupt: SIGINT came, also in a process that a script started with SIGINT ignored; leave
                the `with` block or call `stop`, and tasks drain.
        """
        with heeding_interrupts():
            self._thread.join(timeout)
        if self._failure is not None:
            raise self._failure

    def add_connector(self, config: Mapping[str, str], *, timeout: float = TOPICS_SECONDS) -> frozenset[str]:
        """Create a connector, or change the one of this name, and return its topics once it runs.

        The topics are those the configuration names; else those the source has written to, for which it waits
        `timeout` seconds. More may follow: ask `topics` later. Added again with the same configuration,
        by this or another copy, nothing changes.

        Args:
            config: As in Kafka Connect. Without a `name`, the app id and the class make one.
            timeout: How long a source may take to write its first record; nothing is returned after it.

        Raises:
            ConfigError: A value is no string, there is no `connector.class`, or a second connector of a class
                has no name.
            ConnectorStartError: The connector was refused, or it or a task failed to start.
        """
        name, complete = named(self.app_id, config)
        if not config.get("name") and self._unnamed.setdefault(name, complete) != complete:
            raise ConfigError(
                f"Two connectors of class {config['connector.class']} have no name; give each its own",
                key="name",
            )
        file = ConnectorFile(Path(sys.argv[0] or sys.executable), name, complete)
        self._do(submit(self.rest_url, file, self._tls))
        return told_topics(complete) or self._first_topics(name, timeout)

    @property
    def place(self) -> MemberAddress:
        """Where this copy is found, for gRPC clients and Kafka clients.

        Raises:
            StartError: It does not run.
        """
        if not self._place.done() or not self._thread.is_alive():
            raise StartError(f"{self} does not run. Call start() before, or use it in a with block")
        return self._place.result()

    @property
    def rest_url(self) -> str:
        """Root of the REST interface of this copy, which answers for the whole cluster."""
        return self.place.rest_url

    @property
    def _tls(self) -> ssl.SSLContext | None:
        return self.place.tls

    def __enter__(self) -> Copycat:
        """Start."""
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Drain and end."""
        self.stop()

    def __repr__(self) -> str:
        return f"Copycat({self.app_id!r})"

    def _first_topics(self, name: str, timeout: float) -> frozenset[str]:
        deadline = time.monotonic() + timeout
        while True:
            status, topics = self.status(name), self.topics(name)
            if broken := failed(status):
                raise ConnectorStartError(f"connector {name} failed: {reason(broken[0])}", connector=name)
            if topics or status.type == "sink" or time.monotonic() > deadline:
                return topics
            time.sleep(POLL_SECONDS)

    def _do(self, work: Coroutine[Any, Any, R]) -> R:
        return asyncio.run_coroutine_threadsafe(work, self._loop.result()).result()

    def _run(self) -> None:
        try:
            asyncio.run(self._live())
        except Exception as error:  # the top of the thread
            self._failure = error
            if not self._place.done():
                self._place.set_exception(error)
        finally:
            self._alone.release()

    async def _live(self) -> None:
        self._loop.set_result(asyncio.get_running_loop())
        os.environ["JAVA_HOME"] = str(spark_java_home())
        if self._bootstrap:
            await check_reachable(self._bootstrap)
            given = {"bootstrap.servers": self._bootstrap}
            await self._member.serve(given, self._stop, self._place.set_result)
            return
        names = embedded_names(self.app_id, self._member.settings)
        async with _kafka_in(DataDir(self._data_dir.resolve()), names) as kafka:
            await self._member.serve(kafka, self._stop, self._place.set_result)


_CLASS = "connector.class"


def named(app_id: str, config: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return a connector's name and its configuration with it.

    Without a `name` it is made of the app id and the class, so that every copy of an application, and every
    start of it, means the same connector.

    Raises:
        ConfigError: There is neither a name nor a class.
    """
    wrong = sorted(key for key, value in config.items() if not isinstance(value, str))
    if wrong:
        raise ConfigError(
            f"The values of {', '.join(wrong)} are no strings; write for example {wrong[0]!r}: '1'",
            key=wrong[0],
        )
    if not config.get(_CLASS):
        raise ConfigError(
            f"The connector has no {_CLASS}. Name one, for example FileStreamSource", key=_CLASS
        )
    name = config.get("name") or f"{app_id}-{config[_CLASS].rpartition('.')[2]}"
    return name, {**config, "name": name}


def told_topics(config: Mapping[str, str]) -> frozenset[str]:
    """Return the topics a configuration names; none where only the records show them."""
    if config.get("topics"):
        return frozenset(topic.strip() for topic in config["topics"].split(",") if topic.strip())
    if config.get("topic") and not config.get("transforms"):  # a transformation may rename it
        return frozenset((config["topic"],))
    return frozenset()


@asynccontextmanager
async def _kafka_in(folder: DataDir, names: Mapping[str, str]) -> AsyncIterator[dict[str, str]]:
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
