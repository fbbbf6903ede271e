"""Status services as processes of their own, on a broker that the test stops, freezes and kills."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from copycat.metrics.v1 import metrics_service_pb2 as metrics_pb
from copycat.metrics.v1.metrics_service_pb2_grpc import MetricsServiceStub
from copycat.status.v1 import status_service_pb2 as pb
from copycat.status.v1.status_service_pb2_grpc import StatusServiceStub
from copycat_connect.errors import CopycatError
from copycat_embedded.ports import free_ports
from copycat_rpc.channel import open_channel
from copycat_testkit.kafka import consume_all, unique

GROUP = "status-backing-store-metrics"
RETRIED = "status update is tried again"
GIVEN_UP = "status update given up"
MADE_GOOD = "status update written after it was given up"
#: As the executor does: what is not written by then is handed over again.
HAND_OVER_SECONDS = 2.0
DEADLINE_SECONDS = 60.0


@dataclass(frozen=True)
class Totals:
    """The three counters of the retry KIP."""

    retries: int
    failures: int
    successes: int


class StatusProcess:
    """One status service with settings of its own."""

    def __init__(self, folder: Path, bootstrap: str, settings: Mapping[str, str]) -> None:
        group = unique("cluster")
        self.bootstrap = bootstrap
        self.topic = f"{group}-status"
        self.address = f"127.0.0.1:{free_ports(1)[0]}"
        properties = {
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "status.listen": self.address,
            "status.storage.topic": self.topic,
            "status.storage.replication.factor": "1",
            **{f"status.storage.retry.{key}": value for key, value in settings.items()},
        }
        file, self._log = folder / f"{group}.properties", folder / f"{group}.log"
        file.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
        with self._log.open("wb") as output:
            command = [sys.executable, "-m", "copycat_status", str(file)]
            self.process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)

    def lines(self, message: str, key: str = "") -> list[dict[str, Any]]:
        """The lines of its log with this message, those about one record key where that is named."""
        written = [json.loads(line) for line in self._log.read_text().splitlines() if line.startswith("{")]
        return [line for line in written if line["message"] == message and line.get("key", "").endswith(key)]

    def counted_in_log(self) -> tuple[int, int]:
        """The retries and the failures in its log."""
        return sum(line["updates"] for line in self.lines(RETRIED)), len(self.lines(GIVEN_UP))

    def records(self) -> int:
        """How many records its topic has."""
        return len(consume_all(self.bootstrap, self.topic))

    def terminate(self, within: float) -> int:
        """Send SIGTERM and return the exit code.

        Raises:
            TimeoutExpired: It did not end within so many seconds.
        """
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(within)

    def kill(self) -> None:
        """End it by force."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    @asynccontextmanager
    async def caller(self) -> AsyncIterator[Caller]:
        """Call it."""
        async with open_channel([self.address]) as channel:
            caller = Caller(channel)
            try:
                yield caller
            finally:
                await caller.close()


class Caller:
    """Hands over updates as the executor does, and reads."""

    def __init__(self, channel: Any) -> None:
        self.stub: Any = StatusServiceStub(channel)
        self._metrics: Any = MetricsServiceStub(channel)
        self._handing: dict[str, asyncio.Task[None]] = {}

    async def totals(self) -> Totals:
        """Read the counters."""
        answer = await self._metrics.ReadMetrics(metrics_pb.ReadMetricsRequest(), timeout=DEADLINE_SECONDS)
        values = {
            m.name: int(m.total) for group in answer.groups if group.name == GROUP for m in group.metrics
        }
        return Totals(*(values[f"status-update-{name}-total"] for name in ("retry", "failure", "success")))

    async def until(self, condition: Any, within: float = DEADLINE_SECONDS) -> Totals:
        """Read the counters until the condition holds of them.

        Raises:
            TimeoutError: It did not in time.
        """
        async with asyncio.timeout(within):
            while not condition(totals := await self.totals()):  # noqa: ASYNC110 - of another process
                await asyncio.sleep(0.05)
        return totals

    def hand_over(self, method: str, request: Any) -> asyncio.Task[None]:
        """Hand an update over until it is written; of each connector or task only the newest."""
        about = _about(request)
        if (older := self._handing.get(about)) is not None:
            older.cancel()
        task = asyncio.create_task(self._hand_over(getattr(self.stub, method), request))
        self._handing[about] = task
        return task

    async def state(self, connector: str, task: int | None = None) -> int:
        """The state of a connector or task, or 0."""
        request = pb.GetConnectorStatusRequest(connector=connector)
        try:
            status = (await self.stub.GetConnectorStatus(request, timeout=DEADLINE_SECONDS)).status
        except CopycatError:
            return 0
        return int((status.status if task is None else status.tasks[task]).state)

    async def topics(self, connector: str) -> set[str]:
        """The active topics of a connector."""
        request = pb.ListTopicsRequest(connector=connector)
        return set((await self.stub.ListTopics(request, timeout=DEADLINE_SECONDS)).topics)

    async def close(self) -> None:
        """Hand over nothing more."""
        for task in self._handing.values():
            task.cancel()
        await asyncio.gather(*self._handing.values(), return_exceptions=True)

    async def _hand_over(self, call: Any, request: Any) -> None:
        while True:
            try:
                await call(request, timeout=HAND_OVER_SECONDS)
            except CopycatError:
                await asyncio.sleep(0.2)
            else:
                return


def _about(request: Any) -> str:
    """Name what an update is about; a tombstone is about the connector itself."""
    if isinstance(request, pb.ReportStatusesRequest):
        (said,) = request.statuses
        return f"{said.connector}-{said.task}" if said.HasField("task") else said.connector
    return f"{request.connector}:{','.join(getattr(request, 'topics', ()))}".rstrip(":")


def freeze(process_id: int) -> None:
    """Stop a process where it is."""
    os.kill(process_id, signal.SIGSTOP)


def thaw(process_id: int) -> None:
    """Let a frozen process go on."""
    os.kill(process_id, signal.SIGCONT)
