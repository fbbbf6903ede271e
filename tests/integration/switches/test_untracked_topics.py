"""The worker's switches of KIP-158 and KIP-558, on a system that creates no topics and tracks none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from copycat_connect.config import BOOLEAN
from copycat_connect.config.worker_keys import TOPIC_TRACKING
from copycat_executor.settings import ExecutorSettings
from copycat_status.settings import StatusServiceSettings
from copycat_testkit.kafka import unique, wait_until

from tests.integration.emitting.system import System, reset, system
from tests.integration.scenarios.rest import PATIENCE
from tests.integration.switches.keys import CREATION, KEYS_OF_DEFAULT

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]


@pytest.fixture(scope="module")
def untracked(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """A system that creates no topics and tracks none, by the letter of the KIPs."""
    settings = {"topic.tracking.enable": "false", CREATION: "false", "kip.strict": "true"}
    with system(kafka, tmp_path_factory.mktemp("untracked"), settings) as running:
        yield running


def test_k558_25_tracking_is_on_by_default_for_all_who_ask() -> None:
    assert (TOPIC_TRACKING.type, TOPIC_TRACKING.default) == (BOOLEAN, True)
    of_both = [settings.config_def().keys for settings in (ExecutorSettings, StatusServiceSettings)]
    assert all(keys["topic.tracking.enable"] is TOPIC_TRACKING for keys in of_both)


@pytest.mark.parametrize("row", ["k558_24", "k558_25"])
def test_without_tracking_nothing_is_recorded_and_nothing_is_answered(untracked: System, row: str) -> None:
    topic = unique(row)
    name = untracked.emitter("", topic)
    wait_until(
        lambda: untracked.rest.get(f"/connectors/{name}/offsets")["offsets"], PATIENCE, "a committed record"
    )

    shown = untracked.rest.call("GET", f"/connectors/{name}/topics")

    assert (shown.status_code, shown.content) == reset(untracked.rest, name)
    assert shown.content == b'{"error_code":403,"message":"Topic tracking is disabled."}'
    assert not [key for key, _ in untracked.statuses() if key.startswith("status-topic-")]


def test_k158_04_strictly_new_configurations_with_the_keys_are_refused(untracked: System) -> None:
    config = untracked.emitter_config("refused", **KEYS_OF_DEFAULT)

    reply = untracked.rest.call("POST", "/connectors", {"name": unique("refused"), "config": config})

    assert reply.status_code == 400
    assert (
        f"topic.creation.default.partitions cannot be used, since the worker has {CREATION}=false"
        in reply.text
    )
