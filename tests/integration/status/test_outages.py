"""The retry document on a real broker that is killed, frozen and stopped: counters, log lines, truth."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import pytest
from copycat.status.v1 import status_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.ports import free_ports
from copycat_testkit.kafka import wait_until

from tests.integration.status.service_process import (
    GIVEN_UP,
    MADE_GOOD,
    RETRIED,
    Caller,
    StatusProcess,
    Totals,
    freeze,
    thaw,
)

RUNNING, FAILED, PAUSED = types_pb2.STATE_RUNNING, types_pb2.STATE_FAILED, types_pb2.STATE_PAUSED
STATUS, TOPICS, FORGET = "ReportStatuses", "ReportTopics", "ForgetStatuses"
DEFAULT_WAITS_MS = (300, 600, 1200, 2400, 4800)
LONG_OUTAGE_SECONDS = 45.0
#: The line of a service that writes its log.
LEADS = "this instance leads now"
PATIENCE = 60.0
#: What a launcher gives a service to end.
GRACEFUL_SECONDS = 30.0
#: Of each call during an outage: it needs milliseconds, on machines that have much else to do as well.
READ_SECONDS = 10.0

pytestmark = pytest.mark.timeout(300)


def status(
    connector: str, state: types_pb2.State.ValueType, task: int | None = None, generation: int = 1
) -> pb.ReportStatusesRequest:
    said = pb.Status(state=state, worker_id="h:1", generation=generation)
    return pb.ReportStatusesRequest(statuses=[pb.InstanceStatus(connector=connector, task=task, status=said)])


def topic(connector: str, name: str) -> pb.ReportTopicsRequest:
    return pb.ReportTopicsRequest(connector=connector, task=0, topics=[name], discover_timestamp_ms=1)


def forget(connector: str) -> pb.ForgetStatusesRequest:
    return pb.ForgetStatusesRequest(connector=connector)


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedKafka]:
    with EmbeddedKafka(tmp_path_factory.mktemp("broker"), port=free_ports(1)[0]) as running:
        yield running


@pytest.fixture(scope="module")
def services(
    broker: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, StatusProcess]]:
    """Of defaults, of short retries, of endless ones, and of none; each of a cluster of its own."""
    short = {"initial.backoff.ms": "100", "max.backoff.ms": "200", "jitter.factor": "0", "max.retries": "2"}
    settings = {
        "default": {},
        "short": short,
        "endless": {**short, "max.retries": "2147483647"},
        "none": {"max.retries": "0"},
    }
    folder = tmp_path_factory.mktemp("services")
    started = {name: StatusProcess(folder, broker.bootstrap, own) for name, own in settings.items()}
    for name, service in started.items():
        # One that loses its brokers while it starts ends, for its launcher to start it again.
        wait_until(lambda service=service: service.lines(LEADS), PATIENCE, f"{name} leads")  # type: ignore[misc]
    yield started
    for service in started.values():
        service.kill()


async def written(caller: Caller) -> Totals:
    """Write what is known before an outage, and return the counters."""
    for request in (status("orders", RUNNING), status("orders", RUNNING, task=0), status("gone", RUNNING)):
        await caller.hand_over(STATUS, request)
    return await caller.totals()


def frozen_until_retried(broker: EmbeddedKafka, caller: Caller, before: Totals) -> asyncio.Task[Totals]:
    async def thaw_then() -> Totals:
        try:
            return await caller.until(lambda now: now.retries > before.retries)
        finally:
            thaw(broker.process_id)

    freeze(broker.process_id)
    return asyncio.create_task(thaw_then())


@pytest.mark.long
@pytest.mark.row("KRETRY-T06", "KRETRY-T10", "KRETRY-23")
async def test_a_broker_that_is_frozen_for_two_seconds_costs_a_retry_and_no_update(
    broker: EmbeddedKafka, services: dict[str, StatusProcess]
) -> None:
    service = services["default"]
    async with service.caller() as caller:
        before = await written(caller)
        assert before.successes == await asyncio.to_thread(service.records)

        frozen = frozen_until_retried(broker, caller, before)
        await caller.hand_over(STATUS, status("orders", PAUSED))
        await frozen

        after = await caller.totals()
        assert after.failures == before.failures
        assert after.successes == before.successes + 1 == await asyncio.to_thread(service.records)
        assert (after.retries, after.failures) == service.counted_in_log()
        assert await caller.state("orders") == PAUSED


@pytest.mark.row("KRETRY-T06", "KRETRY-19")
async def test_a_broker_that_is_stopped_and_started_costs_no_update(
    broker: EmbeddedKafka, services: dict[str, StatusProcess]
) -> None:
    service = services["default"]
    async with service.caller() as caller:
        before = await caller.totals()
        await asyncio.to_thread(broker.stop)
        handing = caller.hand_over(STATUS, status("orders", RUNNING, generation=2))
        await asyncio.to_thread(broker.start)
        await handing

        after = await caller.totals()
        assert after.successes == before.successes + 1 == await asyncio.to_thread(service.records)
        assert (after.retries, after.failures) == service.counted_in_log()
        assert await caller.state("orders") == RUNNING


class Readers:
    """Reads of every kind, one after the other, each within its deadline, while something else goes on."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self.longest = 0.0
        self.answered = 0

    async def read(self, until: asyncio.Event) -> None:
        while not until.is_set():
            begin = time.monotonic()
            async with asyncio.timeout(READ_SECONDS):
                await self._caller.state("orders")
                await self._caller.topics("orders")
                await self._caller.totals()
            self.longest = max(self.longest, time.monotonic() - begin)
            self.answered += 1
            await asyncio.sleep(0.1)


async def kill_for_long(broker: EmbeddedKafka, began: float) -> None:
    await asyncio.sleep(max(0.0, began + LONG_OUTAGE_SECONDS - time.monotonic()))
    await asyncio.to_thread(broker.start)


@pytest.mark.row(
    "KRETRY-01", "KRETRY-08", "KRETRY-09", "KRETRY-12", "KRETRY-13", "KRETRY-16", "KRETRY-17", "KRETRY-18",
    "KRETRY-19", "KRETRY-21", "KRETRY-22", "KRETRY-26", "KRETRY-T05", "KRETRY-T09", "KRETRY-T10",
)  # fmt: skip
async def test_a_broker_that_is_killed_for_45_seconds(
    broker: EmbeddedKafka, services: dict[str, StatusProcess]
) -> None:
    default, endless, none = services["default"], services["endless"], services["none"]
    async with default.caller() as caller, endless.caller() as patient, none.caller() as hasty:
        before = await caller.totals()
        await written(patient)
        await written(hasty)
        broker.kill()
        began, over = time.monotonic(), asyncio.Event()
        readers = [Readers(each) for each in (caller, patient, hasty)]
        reading = [asyncio.create_task(each.read(over)) for each in readers]

        updates = [
            caller.hand_over(STATUS, status("orders", FAILED, generation=3)),
            caller.hand_over(STATUS, status("orders", FAILED, task=0, generation=3)),
            caller.hand_over(TOPICS, topic("orders", "lines")),
        ]
        patient.hand_over(STATUS, status("orders", FAILED, generation=3))
        hasty.hand_over(STATUS, status("orders", FAILED, generation=3))
        # Three kinds, each with its retries, are given up while the broker is still away.
        lost = await caller.until(lambda now: now.failures >= before.failures + 3, LONG_OUTAGE_SECONDS)
        assert time.monotonic() - began < LONG_OUTAGE_SECONDS
        assert lost == Totals(before.retries + 15, before.failures + 3, before.successes)
        assert await caller.state("orders") == RUNNING, "reads go on, from what is known"
        # One attempt and no retry; and of one key a newer status and a tombstone, all of them given up.
        await hasty.until(lambda now: now.failures == 1)
        hasty.hand_over(STATUS, status("orders", RUNNING, generation=4))
        hasty.hand_over(FORGET, forget("gone"))
        await hasty.until(lambda now: now.failures == 3)
        assert not any(update.done() for update in updates), "no update was answered as if it were written"

        await kill_for_long(broker, began)
        over.set()
        await asyncio.gather(*reading, *updates)
        await hasty.until(lambda _: len(none.lines(MADE_GOOD)) >= 2)

        assert_attempts(default, ("status-connector-orders", "status-task-orders-0", "connector-orders"))
        assert [await caller.state("orders"), await caller.state("orders", 0)] == [FAILED, FAILED]
        assert await caller.topics("orders") == {"lines"}
        await caller.hand_over(STATUS, status("orders", RUNNING, generation=5))
        after = await caller.totals()
        assert (after.retries, after.failures) == default.counted_in_log()
        assert after.successes == before.successes + 4 == await asyncio.to_thread(default.records)
        await caller.hand_over(TOPICS, topic("orders", "lines"))  # with its next record: known by now
        assert await caller.totals() == after

        assert [await hasty.state("orders"), await hasty.state("gone")] == [RUNNING, 0]
        assert (await hasty.totals()).retries == 0
        assert (await hasty.totals()).failures == len(none.lines(GIVEN_UP)) == 3
        await patient.until(lambda now: now.successes == 4)
        assert await patient.state("orders") == FAILED
        assert (await patient.totals()).retries > 5, "the endless retries of old"
        assert endless.lines(GIVEN_UP) == []
        assert all(each.answered > 5 for each in readers)
    print(f"longest round of three reads: {max(each.longest for each in readers) * 1000:.0f} ms")


def assert_attempts(service: StatusProcess, keys: tuple[str, ...]) -> None:
    """Find of each key: retries 1 to 5 after growing waits, then one line for each of its two ends."""
    for key in keys:
        given_up = service.lines(GIVEN_UP, key)[-1:]
        (last,) = given_up
        assert (last["level"], last["retries"], bool(last["why"])) == ("ERROR", 5, True)
        about = last["key"]
        retries = [line for line in service.lines(RETRIED) if line.get("key") == about][-5:]
        assert [line["retry"] for line in retries] == [1, 2, 3, 4, 5]
        for line, wait in zip(retries, DEFAULT_WAITS_MS, strict=True):
            assert wait <= line["waited_ms"] <= wait * 1.25 + 1
        assert len([line for line in service.lines(GIVEN_UP) if line["key"] == about]) == 1
        assert len([line for line in service.lines(MADE_GOOD) if line["key"] == about]) == 1


@pytest.mark.long
@pytest.mark.row("KRETRY-13", "KRETRY-14", "KRETRY-18", "KRETRY-19", "KRETRY-22")
async def test_a_broker_that_is_frozen_for_20_seconds(
    broker: EmbeddedKafka, services: dict[str, StatusProcess]
) -> None:
    short, leaving = services["short"], services["endless"]
    async with short.caller() as caller, leaving.caller() as other:
        before = await written(caller)
        freeze(broker.process_id)
        began = time.monotonic()
        try:
            other.hand_over(STATUS, status("last", RUNNING))
            caller.hand_over(STATUS, status("orders", FAILED, generation=2))
            caller.hand_over(STATUS, status("gone", FAILED, generation=2))
            lost = await caller.until(lambda now: now.failures == before.failures + 2)
            # Newer ones while the older wait to be made good: of the one a status, of the other a tombstone
            # and a status of the connector of the same name that was made since.
            newest = caller.hand_over(STATUS, status("orders", PAUSED, generation=2))
            caller.hand_over(FORGET, forget("gone"))
            await caller.until(lambda now: now.retries > lost.retries)
            again = caller.hand_over(STATUS, status("gone", PAUSED, generation=1))

            code = await asyncio.to_thread(leaving.terminate, GRACEFUL_SECONDS)
            await asyncio.sleep(max(0.0, began + 20 - time.monotonic()))
        finally:
            thaw(broker.process_id)
        await asyncio.gather(newest, again)
        assert code == 0
        assert [await caller.state("orders"), await caller.state("gone")] == [PAUSED, PAUSED]
        after = await caller.totals()
        assert (after.retries, after.failures) == short.counted_in_log()
        assert after.successes == await asyncio.to_thread(short.records) > before.successes
