"""K875-24: a reset counts only once it is written, however the brokers behave meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.ports import free_ports
from copycat_testkit.kafka import unique, wait_until

from tests.integration.scenarios.monitors import Monitor
from tests.integration.scenarios.rest import PATIENCE, Rest
from tests.integration.scenarios.test_offsets_api import Offsets, saved

pytestmark = pytest.mark.timeout(300)


@pytest.mark.row("K875-24")
def test_a_reset_that_brokers_do_not_take_is_a_failure_and_changes_nothing(
    rest: Rest, monitor: Monitor, tmp_path: Path
) -> None:
    name = unique("source")
    offsets = Offsets(rest, name)
    with EmbeddedKafka(tmp_path / "own", port=free_ports(1)[0]) as broker:
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        admin.create_topics([NewTopic(name, 1, 1)])[name].result(PATIENCE)
        elsewhere = {
            f"{client}.override.bootstrap.servers": broker.bootstrap
            for client in ("producer", "consumer", "admin")
        }
        config = {
            **monitor.source(name),
            **elsewhere,
            "offsets.storage.topic": f"{name}-offsets",
            "admin.override.request.timeout.ms": "3000",
        }
        rest.create(name, config)
        offsets.become(saved(name, 10))
        offsets.turn("stop", "STOPPED")
        broker.kill()
        refused = rest.call("DELETE", f"/connectors/{name}/offsets")
        broker.start()
        path = f"/connectors/{name}/offsets"
        wait_until(lambda: rest.call("GET", path).status_code == 200, PATIENCE, "offsets that can be read")

        assert refused.status_code == 503, "it can be tried again; Kafka Connect says 500"
        assert f"{name}-offsets" in refused.json()["message"]
        offsets.become(saved(name, 10))
        rest.ok("DELETE", f"/connectors/{name}/offsets")
        offsets.become(saved(name))
