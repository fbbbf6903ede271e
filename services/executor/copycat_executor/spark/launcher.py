"""Launches hosts: one Spark job of one partition each, in a thread of its own, killed by its tag."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from copycat_executor.pipes.processor_time import process_seconds, thread_seconds
from copycat_executor.spark.conf import is_local
from copycat_executor.spark.session import Spark
from copycat_executor.spark.worker import run
from copycat_executor.taskhost.spec import HostSpec

Ended = Callable[[str, str | None], None]
REASON_CHARACTERS = 500
#: A process on this machine that was killed is gone within milliseconds.
_GONE_SOON_SECONDS = 1.0


class SparkLauncher:
    """Runs each host as a Spark job of one partition (`Launcher`)."""

    def __init__(self, spark: Spark) -> None:
        self._spark = spark
        # One thread for kills: a JVM that does not answer must not hold up its caller.
        self._kills = ThreadPoolExecutor(1, thread_name_prefix="host-kill")

    def launch(self, spec: HostSpec, ended: Ended) -> None:
        """Start a host; `ended` hears its id and, after a failure, the reason, from another thread."""
        thread = threading.Thread(
            target=self._run, args=(spec, ended), name=f"host-{spec.host_id}", daemon=True
        )
        thread.start()

    def kill(self, host_id: str, pid: int) -> None:
        """End a host by force: its process is killed, by Spark where that is on another machine.

        Spark takes a second for it, in which the host would go on while its tasks start elsewhere.
        """
        if self._here:
            kill_process(pid)
        self._kills.submit(self._cancel, host_id)

    async def kill_and_wait(self, host_id: str, pid: int) -> bool:
        """Do so, and return whether its process is gone; Spark takes a second to know."""
        self._kills.submit(self._cancel, host_id)
        return self._here and await kill_and_see(pid)

    def thread_seconds(self, pid: int) -> Mapping[str, float]:
        """Return what the threads of a host have computed, by name; nothing of one on another machine."""
        return thread_seconds(pid) if self._here else {}

    def process_seconds(self, pid: int) -> float:
        """Return what a host has computed; 0 of one on another machine."""
        return process_seconds(pid) if self._here else 0.0

    @property
    def _here(self) -> bool:
        """Whether hosts run on this machine."""
        return is_local(self._spark.context.master or "")

    def close(self) -> None:
        """Kill no more; hosts end with the session."""
        self._kills.shutdown(wait=False, cancel_futures=True)

    def _cancel(self, host_id: str) -> None:
        with suppress(Py4JError):  # without its JVM the host is gone already
            self._spark.context.cancelJobsWithTag(_tag(host_id))

    def _run(self, spec: HostSpec, ended: Ended) -> None:
        reason: str | None = None
        try:
            context = self._spark.context
            context.addJobTag(_tag(spec.host_id))
            context.parallelize([spec.to_json()], 1).mapPartitions(run).collect()
        except (PySparkException, Py4JError, OSError, AttributeError) as error:
            # AttributeError: a context that stops under the job leaves None in its place (PySpark 4.3).
            reason = spark_reason(error)
        finally:
            ended(spec.host_id, reason)


def kill_process(pid: int) -> None:
    """End a process of this machine by force, if it is known (not 0)."""
    if pid:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


async def kill_and_see(pid: int) -> bool:
    """Do so, and return whether it is gone; False also where that cannot be seen."""
    if not pid:
        return False
    try:
        process = os.pidfd_open(pid)
    except OSError as error:  # it is gone already, or there is no descriptor left
        kill_process(pid)
        return isinstance(error, ProcessLookupError)
    try:
        kill_process(pid)
        return await _gone_soon(process)
    finally:
        os.close(process)


async def _gone_soon(process: int) -> bool:
    """Wait for the end of a process, given the descriptor that says so; False when it takes long."""
    loop, gone = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(process, gone.set)
    try:
        async with asyncio.timeout(_GONE_SOON_SECONDS):
            await gone.wait()
    except TimeoutError:
        return False
    finally:
        loop.remove_reader(process)
    return True


def _tag(host_id: str) -> str:
    return f"copycat:{host_id}"


def spark_reason(error: Exception) -> str:
    """Return the line of an error of Spark that says why, without the stack traces around it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith(("Caused by:", ": ")) or "SparkException" in line]
    return (causes or lines or [type(error).__name__])[0].removeprefix(": ")[:REASON_CHARACTERS]
