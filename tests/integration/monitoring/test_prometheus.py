"""A real Prometheus with the files of deploy/monitoring reads a running system, and alerts of what fails."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
import yaml
from copycat_testkit.kafka import unique, wait_until
from copycat_testkit.prometheus import Prometheus, program
from copycat_testkit.system import CopycatUp

from tests.plain_hosts import on_plain_hosts

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

MONITORING = Path(__file__).parents[3] / "deploy" / "monitoring"
ALERTS = MONITORING / "alerts.yml"
STRING = "org.apache.kafka.connect.storage.StringConverter"


def dashboard_queries() -> list[str]:
    """Return what the panels ask, for all connectors."""
    dashboard = json.loads((MONITORING / "grafana-dashboard.json").read_text("utf-8"))
    targets = [target for panel in dashboard["panels"] for target in panel.get("targets", ())]
    return [target["expr"].replace("$connector", ".*") for target in targets]


@pytest.fixture(scope="module")
def system(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[CopycatUp]:
    with CopycatUp(tmp_path_factory.mktemp("monitored"), kafka, environment=on_plain_hosts()) as up:
        yield up


@pytest.fixture(scope="module")
def prometheus(system: CopycatUp, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    target = system.url.removeprefix("http://")
    with Prometheus(tmp_path_factory.mktemp("prometheus"), {"copycat": target}, [ALERTS]) as server:
        yield server


def create(system: CopycatUp, name: str, **config: str) -> None:
    strings = {f"{each}.converter": STRING for each in ("key", "value")}
    keys = {key.replace("__", "."): value for key, value in config.items()}
    reply = httpx2.put(f"{system.url}/connectors/{name}/config", json={**strings, **keys}, timeout=90)
    assert reply.status_code == 201, reply.text


def counted(prometheus: Prometheus, query: str) -> int:
    """Return the value of the one series that answers, or 0."""
    return sum(int(each["value"][1]) for each in prometheus.query(query))


def test_each_panel_of_the_dashboard_has_data_while_records_flow(
    system: CopycatUp, prometheus: Prometheus, tmp_path: Path
) -> None:
    name, lines = unique("lines"), tmp_path / "in.txt"
    lines.write_text("".join(f"line {number}\n" for number in range(1000)))
    create(system, name, connector__class="FileStreamSource", file=str(lines), topic=name)
    create(system, f"{name}-out", connector__class="FileStreamSink", file=str(tmp_path / "out"), topics=name)

    for query in dashboard_queries():
        wait_until(lambda: prometheus.query(query), 60, f"data of {query}")  # noqa: B023
    written = f'kafka_connect_source_task_metrics_source_record_write_total{{connector="{name}"}}'
    wait_until(lambda: counted(prometheus, written) == 1000, 60, "all lines counted")


def test_kafka_clients_of_tasks_are_told_while_the_tasks_run_and_no_longer(
    system: CopycatUp, prometheus: Prometheus, tmp_path: Path
) -> None:
    name, lines = unique("clients"), tmp_path / "in.txt"
    lines.write_text("".join(f"line {number}\n" for number in range(500)))
    create(system, name, connector__class="FileStreamSource", file=str(lines), topic=name)
    create(system, f"{name}-out", connector__class="FileStreamSink", file=str(tmp_path / "out"), topics=name)
    sent = f'kafka_producer_producer_metrics_record_send_total{{client_id="connector-producer-{name}-0"}}'
    read = (
        "kafka_consumer_consumer_fetch_manager_metrics_records_consumed_total"
        f'{{client_id="connector-consumer-{name}-out-0"}}'
    )
    # What is sent again counts again, as in Java: the leader of a new topic may refuse the first.
    wait_until(lambda: counted(prometheus, sent) >= 500, 60, f"at least 500 records in {sent}")
    wait_until(lambda: counted(prometheus, read) == 500, 60, f"500 records in {read}")

    for each in (name, f"{name}-out"):
        httpx2.delete(f"{system.url}/connectors/{each}", timeout=90).raise_for_status()
    for query in (sent, read):
        wait_until(lambda: not prometheus.query(query), 60, f"no client any more: {query}")  # noqa: B023


def test_an_alert_is_raised_of_a_task_that_fails_and_of_nothing_else(
    system: CopycatUp, prometheus: Prometheus
) -> None:
    name = unique("failing")
    create(
        system,
        name,
        connector__class="org.apache.kafka.connect.tools.MockSourceConnector",
        mock_mode="task-failure",
        delay_ms="0",
        errors__restart="off",
    )
    wait_until(lambda: "CopycatTaskFailed" in prometheus.alerts(), 60, "an alert of the failed task")
    raised = prometheus.alerts()

    assert list(raised) == ["CopycatTaskFailed"]
    [alert] = raised["CopycatTaskFailed"]
    assert alert["labels"]["connector"] == name
    assert alert["annotations"]["summary"] == f"Task 0 of connector {name} has failed"
    httpx2.delete(f"{system.url}/connectors/{name}", timeout=90).raise_for_status()
    wait_until(lambda: not prometheus.alerts(), 60, "the alert ends with the connector")


def test_each_alert_fires_on_what_it_is_for_and_a_cluster_that_is_well_raises_none(tmp_path: Path) -> None:
    shutil.copy(ALERTS, tmp_path)
    played = shutil.copy(Path(__file__).with_name("alerts_test.yml"), tmp_path)
    tool = str(program("promtool"))
    result = subprocess.run(
        [tool, "test", "rules", str(played)], check=False, capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 0, result.stdout + result.stderr
    [group] = yaml.safe_load(ALERTS.read_text("utf-8"))["groups"]
    expected = Path(played).read_text("utf-8")
    assert [rule["alert"] for rule in group["rules"] if f'"{rule["alert"]}"' not in expected] == []


def test_prometheus_takes_the_settings_as_they_are_shipped() -> None:
    tool = str(program("promtool"))
    command = [tool, "check", "config", str(MONITORING / "prometheus.yml")]
    result = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stdout + result.stderr
