"""The metrics page of a running system: what it says is what happened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx2
import pytest
from copycat_telemetry.metrics.definitions import MetricKind
from copycat_telemetry.metrics.groups import SINK_TASK, SOURCE_TASK, TASK_ERROR
from copycat_testkit.kafka import consume_all, unique, wait_until
from copycat_testkit.system import CopycatUp
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

PATIENCE = 90.0
LINES = 500
CONNECT = "kafka_connect_"
SOURCE = f"{CONNECT}source_task_metrics_"
SINK = f"{CONNECT}sink_task_metrics_"
ERROR = f"{CONNECT}task_error_metrics_"
TASK = f"{CONNECT}connector_task_metrics_"
WORKER = f"{CONNECT}connect_worker_metrics_"


class Scraped:
    """One scrape of `/metrics`."""

    def __init__(self, url: str) -> None:
        reply = httpx2.get(f"{url}/metrics", timeout=60, headers={"Accept": "text/plain;version=0.0.4"})
        assert reply.status_code == 200, reply.text
        self.samples = [
            sample for family in text_string_to_metric_families(reply.text) for sample in family.samples
        ]

    def all(self, name: str, **labels: str) -> list[Sample]:
        """Return the samples of a name that have these labels at least."""
        return [
            sample
            for sample in self.samples
            if sample.name == name and labels.items() <= sample.labels.items()
        ]

    def value(self, name: str, **labels: str) -> float | None:
        """Return the one value there is, or None."""
        found = self.all(name, **labels)
        assert len(found) < 2, found
        return found[0].value if found else None

    def number(self, name: str, **labels: str) -> float:
        """Return the one value that there must be."""
        found = self.value(name, **labels)
        assert found is not None, (name, labels)
        return found

    def names(self, **labels: str) -> set[str]:
        """Return the names of all samples that have these labels at least."""
        return {sample.name for sample in self.samples if labels.items() <= sample.labels.items()}


class Connectors:
    """Connectors of one test; deleted at its end."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._names: list[str] = []

    def put(self, **config: str) -> str:
        name = unique("metered")
        self._names.append(name)
        named = {key.replace("_", "."): value for key, value in config.items()}
        httpx2.put(f"{self.url}/connectors/{name}/config", json=named, timeout=60).raise_for_status()
        return name

    def ask(self, name: str, what: str) -> None:
        httpx2.put(f"{self.url}/connectors/{name}/{what}", timeout=60).raise_for_status()

    def delete(self, name: str) -> None:
        self._names.remove(name)
        httpx2.delete(f"{self.url}/connectors/{name}", timeout=60).raise_for_status()

    def clear(self) -> None:
        for name in list(self._names):
            self.delete(name)


@pytest.fixture
def connectors(system: CopycatUp) -> Iterator[Connectors]:
    made = Connectors(system.url)
    yield made
    made.clear()


def until(connectors: Connectors, wanted: Mapping[str, float], **labels: str) -> Scraped:
    """Scrape until metrics have the values wanted."""

    def found() -> Scraped | None:
        page = Scraped(connectors.url)
        return page if all(page.value(name, **labels) == value for name, value in wanted.items()) else None

    return wait_until(found, PATIENCE, str(wanted))


def having(connectors: Connectors, name: str, **labels: str) -> Scraped:
    """Scrape until there is a sample of this name with these labels."""

    def found() -> Scraped | None:
        page = Scraped(connectors.url)
        return page if page.all(name, **labels) else None

    return wait_until(found, PATIENCE, f"{name} with {labels}")


def test_a_file_on_its_way_through_kafka_is_counted_line_by_line(
    connectors: Connectors, tmp_path: Path
) -> None:
    source, topic = tmp_path / "in.txt", unique("lines")
    source.write_text("".join(f"line {number}\n" for number in range(LINES)))

    reads = connectors.put(
        connector_class="FileStreamSource",
        file=str(source),
        topic=topic,
        transforms="wrap",
        transforms_wrap_type="org.apache.kafka.connect.transforms.HoistField$Value",
        transforms_wrap_field="line",
    )
    writes = connectors.put(
        connector_class="FileStreamSink", file=str(tmp_path / "out.txt"), topics=topic, tasks_max="1"
    )

    until(connectors, {f"{WORKER}connector_running_task_count": 1}, connector=writes)
    until(
        connectors,
        {
            f"{SOURCE}source_record_poll_total": LINES,
            f"{SOURCE}source_record_write_total": LINES,
            f"{SOURCE}source_record_active_count": 0,
        },
        connector=reads,
        task="0",
    )
    page = until(
        connectors,
        {
            f"{SINK}sink_record_read_total": LINES,
            f"{SINK}sink_record_send_total": LINES,
            f"{SINK}sink_record_active_count": 0,
            f"{SINK}sink_record_lag_max": 0,
            f"{SINK}partition_count": 1,
            f"{TASK}offset_commit_success_percentage": 1,
        },
        connector=writes,
        task="0",
    )

    assert page.number(f"{SOURCE}source_record_poll_rate", connector=reads) > 0
    assert page.number(f"{SOURCE}poll_batch_max_time_ms", connector=reads) > 0
    assert page.number(f"{SINK}put_batch_avg_time_ms", connector=writes) > 0
    assert 0 < page.number(f"{TASK}batch_size_max", connector=writes) <= LINES
    assert page.value(f"{TASK}offset_commit_failure_percentage", connector=writes) == 0
    assert page.all(
        f"{CONNECT}connector_transform_metrics_transform_class",
        connector=reads,
        task="0",
        transform="wrap",
        transform_class="org.apache.kafka.connect.transforms.HoistField$Value",
    )
    assert page.all(
        f"{TASK}connector_class",
        connector=writes,
        connector_class="org.apache.kafka.connect.file.FileStreamSinkConnector",
    )


def test_all_that_kafka_connect_tells_of_a_task_is_told(connectors: Connectors, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("a\n")
    topic = unique("lines")
    reads = connectors.put(connector_class="FileStreamSource", file=str(tmp_path / "in.txt"), topic=topic)
    writes = connectors.put(connector_class="FileStreamSink", file=str(tmp_path / "out.txt"), topics=topic)
    until(connectors, {f"{SOURCE}source_record_write_total": 1}, connector=reads)
    page = until(connectors, {f"{SINK}sink_record_send_total": 1}, connector=writes)

    for group, connector in ((SOURCE_TASK, reads), (SINK_TASK, writes), (TASK_ERROR, reads)):
        prefix = f"{CONNECT}{group.name.replace('-', '_')}_"
        told = {name.removeprefix(prefix) for name in page.names(connector=connector, task="0")}
        # Sizes of transactions are reported by exactly-once tasks alone.
        wanted = {each.name.replace("-", "_") for each in group.metrics if "transaction" not in each.name}
        assert wanted <= told
        assert all(each.kind is not MetricKind.TEXT for each in group.metrics)


def test_records_that_fail_are_counted_where_they_go(connectors: Connectors, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text('{"a": 1}\nbroken\n{"a": 2}\nbroken too\n')
    topic = unique("mixed")
    raw = "org.apache.kafka.connect.storage.StringConverter"
    connectors.put(
        connector_class="FileStreamSource", file=str(tmp_path / "in.txt"), topic=topic, value_converter=raw
    )

    name = connectors.put(
        connector_class="FileStreamSink",
        file=str(tmp_path / "out.txt"),
        topics=topic,
        value_converter="org.apache.kafka.connect.json.JsonConverter",
        value_converter_schemas_enable="false",
        errors_tolerance="all",
        errors_log_enable="true",
        errors_deadletterqueue_topic_name=unique("dead"),
        errors_deadletterqueue_topic_replication_factor="1",
    )

    page = until(
        connectors,
        {
            f"{ERROR}total_record_failures": 2,
            f"{ERROR}total_record_errors": 2,
            f"{ERROR}total_records_skipped": 2,
            f"{ERROR}total_errors_logged": 2,
            f"{ERROR}deadletterqueue_produce_requests": 2,
            f"{ERROR}deadletterqueue_produce_failures": 0,
            f"{ERROR}total_retries": 0,
            f"{SINK}sink_record_read_total": 4,
            f"{SINK}sink_record_send_total": 2,
        },
        connector=name,
    )
    assert page.number(f"{ERROR}last_error_timestamp", connector=name) > 1_700_000_000_000


def test_a_task_that_fails_keeps_its_metrics_until_it_is_gone(connectors: Connectors, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("broken\n")
    topic = unique("broken")
    raw = "org.apache.kafka.connect.storage.StringConverter"
    connectors.put(
        connector_class="FileStreamSource", file=str(tmp_path / "in.txt"), topic=topic, value_converter=raw
    )
    name = connectors.put(
        connector_class="FileStreamSink",
        file=str(tmp_path / "out.txt"),
        topics=topic,
        value_converter="org.apache.kafka.connect.json.JsonConverter",
    )

    until(
        connectors, {f"{CONNECT}connector_task_status": 1, f"{ERROR}total_record_errors": 1}, connector=name
    )
    page = having(connectors, f"{CONNECT}connector_task_status", connector=name, status="failed")
    assert page.value(f"{WORKER}connector_failed_task_count", connector=name) == 1
    assert page.value(f"{ERROR}total_record_errors", connector=name) == 1

    connectors.delete(name)
    wait_until(lambda: not Scraped(connectors.url).names(connector=name), PATIENCE, "no metrics of it")


def test_a_paused_connector_says_so(connectors: Connectors, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("a\n")
    name = connectors.put(
        connector_class="FileStreamSource", file=str(tmp_path / "in.txt"), topic=unique("lines")
    )
    running = f"{CONNECT}connector_task_status"
    having(connectors, running, connector=name, status="running")

    connectors.ask(name, "pause")

    having(connectors, f"{CONNECT}connector_status", connector=name, status="paused")
    page = having(connectors, running, connector=name, status="paused")
    assert page.value(f"{WORKER}connector_paused_task_count", connector=name) == 1
    ratios = [page.number(f"{TASK}{state}_ratio", connector=name) for state in ("running", "pause")]
    assert 0 < sum(ratios) <= 1


@pytest.mark.row("KRETRY-T09", "KRETRY-T04", "KRETRY-23", "KRETRY-27")
def test_every_record_of_the_status_topic_is_counted(
    connectors: Connectors, system: CopycatUp, tmp_path: Path
) -> None:
    """One success for each update, no retry and no failure while the brokers are well."""
    updates = f"{CONNECT}status_backing_store_metrics_status_update_"
    before = Scraped(connectors.url).number(f"{updates}success_total")
    (tmp_path / "in.txt").write_text("")

    name = connectors.put(
        connector_class="FileStreamSource", file=str(tmp_path / "in.txt"), topic=unique("none")
    )
    connectors.ask(name, "pause")
    paused = f"{CONNECT}connector_status"
    having(connectors, paused, connector=name, status="paused")

    def counted() -> Scraped | None:
        records = len(consume_all(system.kafka_client(), "connect-status"))
        page = Scraped(connectors.url)
        return page if page.value(f"{updates}success_total") == records > before else None

    page = wait_until(counted, PATIENCE, "as many updates as records")
    assert (page.value(f"{updates}retry_total"), page.value(f"{updates}failure_total")) == (0, 0)


def test_every_service_is_there_and_one_of_each_writes(system: CopycatUp) -> None:
    page = Scraped(system.url)

    up = {each.labels["service"]: each.value for each in page.all("copycat_service_up")}
    leads = {each.labels["service"]: each.value for each in page.all(f"{CONNECT}event_log_metrics_leads")}

    assert up == dict.fromkeys(("config", "offset", "status", "scheduler", "executor"), 1)
    assert leads == dict.fromkeys(("config", "offset", "status", "scheduler"), 1)
    assert page.value(f"{CONNECT}connect_worker_rebalance_metrics_rebalancing") in {0, 1}
