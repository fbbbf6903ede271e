"""What an executor asks of Spark, answered with plain processes: see `tests/plain_hosts`.

A daemon of ours forks the hosts, as Spark's does; it and its hosts end with the executor.
"""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, cast

from copycat_executor.main import serve
from copycat_executor.spark.session import Spark
from copycat_rpc import role
from pyspark.errors import PySparkException

DAEMON = Path(__file__).with_name("plain_daemon.py")


class Jvm:
    """The daemon, in the place of Spark's JVM."""

    def __init__(self) -> None:
        self.calls, theirs = socket.socketpair()
        with theirs:
            # The last word is that of PySpark's own daemon: tests find hosts by it.
            command = [sys.executable, str(DAEMON), str(theirs.fileno()), "pyspark.worker"]
            self._process = subprocess.Popen(
                command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=2, process_group=0
            )

    def when_ended(self, ended: Callable[[int], None]) -> None:
        threading.Thread(target=lambda: ended(self._process.wait()), daemon=True).start()

    def kill(self) -> None:
        self._process.kill()

    def stop(self) -> None:
        self.calls.shutdown(socket.SHUT_RDWR)
        self._process.wait()


class Context:
    """Runs jobs of one partition, each in a process, by the tags of the thread that asks."""

    master = "local"

    def __init__(self, jvm: Jvm) -> None:
        self._jvm = jvm
        self._asks = threading.Lock()
        self._tag = threading.local()
        self._ends: dict[str, tuple[threading.Event, list[int]]] = {}
        threading.Thread(target=self._hear, daemon=True).start()

    def addJobTag(self, tag: str) -> None:
        self._tag.value = tag

    def parallelize(self, data: Iterable[str], numSlices: int) -> Job:
        (spec,) = data
        assert numSlices == 1
        return Job(self, spec)

    def cancelJobsWithTag(self, tag: str) -> None:
        self._ask(kill=tag)

    def run(self, spec: str) -> None:
        """Run a host to its end.

        Raises:
            PySparkException: It was killed, or could not run.
        """
        tag: str = self._tag.value
        ended, codes = self._ends[tag] = threading.Event(), []
        self._ask(run=tag, spec=spec)
        ended.wait()
        if codes != [0]:
            raise PySparkException(f"SparkException: the process of the host ended with {codes}")

    def _ask(self, **what: str) -> None:
        with self._asks:
            self._jvm.calls.sendall(json.dumps(what).encode() + b"\n")

    def _hear(self) -> None:
        with self._jvm.calls.makefile() as answers:
            for line in answers:
                tag, code = json.loads(line)
                ended, codes = self._ends.pop(tag)
                codes.append(code)
                ended.set()
        for ended, _ in list(self._ends.values()):
            ended.set()  # all hosts end with the daemon


class Job:
    """One host."""

    def __init__(self, context: Context, spec: str) -> None:
        self._context = context
        self._spec = spec

    def mapPartitions(self, _: Callable[[Iterable[str]], Iterable[str]]) -> Job:
        return self

    def collect(self) -> list[str]:
        self._context.run(self._spec)
        return []


class PlainSpark:
    """The daemon and the context over it."""

    def __init__(self) -> None:
        self.jvm = Jvm()
        self.context = Context(self.jvm)

    def ask(self) -> object:
        return None

    def stop(self) -> None:
        self.jvm.stop()


async def serve_plain(
    properties: Mapping[str, str], stop: asyncio.Event, ready: Callable[[str], None]
) -> None:
    """Serve an executor on plain processes, as a part of this process."""
    await serve(properties, stop, ready, spark=_plain_spark())


def main() -> int:
    """Run `python -m copycat_executor worker.properties` on plain processes."""
    return role.main("executor", partial(serve, spark=_plain_spark()))


def _plain_spark() -> Spark:
    spark: Any = PlainSpark()
    return cast("Spark", spark)
