"""connect_rest_test and the logging row of connect_distributed_test of kafkatest.

Every answer of the REST interface is compared with Kafka Connect's, field by field, by `tests/compat/rest`;
here is the thread of a user's first session.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from copycat_testkit.kafka import unique, wait_until

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.files import LineFile
from tests.integration.scenarios.monitors import TOLD, Monitor
from tests.integration.scenarios.rest import PATIENCE, Rest

pytestmark = pytest.mark.timeout(300)

EXECUTORS = ("executor", "executor-2", "executor-3")


def test_rest_api(rest: Rest, tmp_path: Path) -> None:
    """test_rest_api: list, validate, create, show, change, delete; placeholders are shown as written."""
    secrets = tmp_path / "secrets.properties"
    topic, name = unique("rest"), unique("rest")
    secrets.write_text(f"topic={topic}\n")
    hidden = f"${{file:{secrets}:topic}}"
    read, write = LineFile(tmp_path / "in.txt"), LineFile(tmp_path / "out.txt")
    configs = {f"{name}-source": read.source(hidden), f"{name}-sink": write.sink(hidden)}
    plugins = {plugin["class"].rpartition(".")[2] for plugin in rest.get("/connector-plugins")}
    assert plugins >= {"FileStreamSourceConnector", "FileStreamSinkConnector"}
    for connector, config in configs.items():
        kind = config["connector.class"]
        found = rest.ok("PUT", f"/connector-plugins/{kind}/config/validate", {"name": connector, **config})
        assert found["error_count"] == 0
        rest.create(connector, config)
        again = rest.call("POST", "/connectors", {"name": connector, "config": config})
        assert again.status_code == 409
        rest.runs(connector)
        shown = rest.get(f"/connectors/{connector}")
        task = {"connector": connector, "task": 0}
        assert shown["config"] == {**config, "name": connector}
        assert shown["tasks"] == [task]
        assert rest.get(f"/connectors/{connector}/config") == shown["config"]
        (told,) = rest.get(f"/connectors/{connector}/tasks")
        assert told["id"] == task
        assert told["config"]["task.class"] == f"org.apache.kafka.connect.file.{kind}Task"
        assert (told["config"].get("topic") or told["config"]["topics"]) == hidden
    assert set(rest.get("/connectors")) >= set(configs)
    read.append(["one", "two"])
    write.holds("one", "two")
    for connector, config in configs.items():
        rest.configure(connector, {**config, "errors.log.enable": "true"})
        rest.runs(connector)
        assert topic not in str(rest.get("/connectors?expand=info&expand=status")[connector])
        rest.delete(connector)
    assert not set(rest.get("/connectors")) & set(configs)


def test_dynamic_logging(cluster: Cluster, rest: Rest, monitor: Monitor) -> None:
    """test_dynamic_logging: levels of one worker, of all of them, until a restart.

    A level of the scope `worker` is that of the process that is asked, a gateway; one of the scope `cluster`
    is also that of every executor and of the connectors and tasks it runs.
    """
    name, logger = unique("logging"), "copycat_monitorable"
    rest.create(name, monitor.source(name, tasks_max="6"))
    rest.runs(name, 6)
    assert rest.get("/admin/loggers")["root"]["last_modified"] is None

    assert rest.ok("PUT", f"/admin/loggers/{logger}", {"level": "INFO"}) == [logger]
    first = rest.get(f"/admin/loggers/{logger}")
    assert first["level"] == "INFO"
    assert rest.ok("PUT", f"/admin/loggers/{logger}", {"level": "INFO"}) == []
    assert rest.get(f"/admin/loggers/{logger}") == first
    assert not any(TOLD in cluster.log(executor) for executor in EXECUTORS)

    assert rest.ok("PUT", f"/admin/loggers/{logger}?scope=cluster", {"level": "DEBUG"}) is None
    second = rest.get(f"/admin/loggers/{logger}")
    assert second["level"] == "DEBUG"
    assert second["last_modified"] > first["last_modified"]
    wait_until(lambda: all(TOLD in cluster.log(each) for each in EXECUTORS), PATIENCE, "words of all tasks")

    rest.ok("PUT", f"/admin/loggers/{logger}?scope=cluster", {"level": "WARN"})
    cluster.restart("gateway")
    assert rest.call("GET", f"/admin/loggers/{logger}").status_code == 404
