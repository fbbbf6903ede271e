"""Changes of offsets that nothing may undo: tasks that hang, gateways at once, a lost topic (KIP-875)."""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor

import pytest
from confluent_kafka.admin import AdminClient
from copycat_testkit.kafka import create_topic, delete_topic, unique, wait_until

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.monitors import Monitor
from tests.integration.scenarios.rest import PATIENCE, Rest
from tests.integration.scenarios.test_offsets_api import Offsets, fill, read, saved

pytestmark = pytest.mark.timeout(300)
ROUNDS = 5


@pytest.mark.parametrize("kind", ["source", "sink"])
@pytest.mark.row("K875-14", "K875-T03", "K875-T06")
def test_a_connector_whose_offsets_cannot_be_modified_says_so_and_keeps_them(
    cluster: Cluster, rest: Rest, monitor: Monitor, kind: str
) -> None:
    name = create_topic(cluster.bootstrap)
    if kind == "sink":
        fill(cluster.bootstrap, name, 1, 10)
    config = monitor.source(name) if kind == "source" else monitor.sink(name)
    make = saved if kind == "source" else read
    before, wanted = make(name, 10), make(name, 5)
    rest.create(name, {**config, "alters.offsets": "unsupported"})
    offsets = Offsets(rest, name)
    offsets.become(before)
    offsets.turn("stop", "STOPPED")
    answers = {
        "unsupported": f"Failed to modify offsets for connector {name} because it doesn't support external"
        " modification of offsets",
        "fails": "The system beyond is away",
    }
    for said, text in answers.items():
        rest.configure(name, {**config, "alters.offsets": said})
        for method, body in (("PATCH", wanted), ("DELETE", None)):
            reply = rest.call(method, f"/connectors/{name}/offsets", body)
            assert (reply.status_code, text in reply.json()["message"]) == (500, True), reply.text
            offsets.become(before)


@pytest.mark.row("K875-05")
def test_offsets_are_shown_in_every_state(rest: Rest, monitor: Monitor) -> None:
    name = unique("source")
    rest.create(name, monitor.source(name))
    offsets = Offsets(rest, name)
    offsets.become(saved(name, 10))
    for verb, states in (("pause", ["PAUSED"] * 2), ("stop", ["STOPPED"]), ("resume", ["RUNNING"] * 2)):
        offsets.turn(verb, *states)
        offsets.become(saved(name, 10))
    monitor.order("task 0 poll raises")
    rest.wait(name, "RUNNING", "FAILED")
    offsets.become(saved(name, 10))


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
@pytest.mark.row("K875-10")
def test_no_change_is_made_while_a_source_task_hangs(rest: Rest, monitor: Monitor, method: str) -> None:
    """It is answered once the task was given up with its host, so that nothing can undo it any more."""
    name = unique("source")
    rest.create(name, monitor.source(name))
    offsets = Offsets(rest, name)
    offsets.become(saved(name, 10))
    monitor.order("task 0 poll blocks")
    wait_until(lambda: monitor.entries("poll blocked"), PATIENCE, "a task that hangs")
    rest.ok("PUT", f"/connectors/{name}/stop")
    wait_until(lambda: (rest.states(name) or [])[:1] == ["STOPPED"], PATIENCE, "the connector stopped")
    assert held(rest, name), "the task is still there when the request is sent"
    offsets.modify(method, saved(name, 5) if method == "PATCH" else None)
    assert not held(rest, name), "it is not any more when it is answered"
    rest.wait(name, "STOPPED")
    monitor.order()
    offsets.become(saved(name, 5) if method == "PATCH" else saved(name))
    offsets.turn("resume", "RUNNING", "RUNNING")
    offsets.become(saved(name, 10))


def held(rest: Rest, name: str) -> bool:
    """Tell whether some worker still has a task of a connector."""
    found = (each for worker in rest.get("/workers") for each in worker["held"])
    return any(each["connector"] == name and "task" in each for each in found)


@pytest.mark.row("K875-17")
def test_changes_by_two_gateways_at_once_come_one_after_the_other(
    cluster: Cluster, rest: Rest, monitor: Monitor
) -> None:
    """Each is made whole or not at all, and both gateways show the same."""
    name = unique("source")
    rest.create(name, monitor.source(name, tasks_max="2"))
    offsets = Offsets(rest, name)
    offsets.become(saved(name, 10, 10))
    offsets.turn("stop", "STOPPED")
    with cluster.gateway({}) as second, ThreadPoolExecutor(2) as pool:
        for number in range(ROUNDS):
            wanted = saved(name, number, number), saved(name, number + 100, number + 100)
            asked = [
                pool.submit(Offsets(gateway, name).modify, "PATCH", body)
                for gateway, body in zip((rest, second), wanted, strict=True)
            ]
            assert all(each.result(PATIENCE) for each in asked)
            shown = [gateway.get(f"/connectors/{name}/offsets")["offsets"] for gateway in (rest, second)]
            assert sorted(shown[0], key=str) == sorted(shown[1], key=str)
            assert {"offsets": sorted(shown[0], key=str)} in wanted


@pytest.mark.row("K875-32")
def test_offsets_that_were_saved_are_put_back_after_the_loss_of_the_topic(
    cluster: Cluster, rest: Rest, monitor: Monitor
) -> None:
    name = unique("source")
    config = monitor.source(name, tasks_max="2")
    rest.create(name, config)
    offsets = Offsets(rest, name)
    offsets.become(saved(name, 10, 10))
    kept = rest.get(f"/connectors/{name}/offsets")
    offsets.turn("stop", "STOPPED")
    rest.released(name)

    delete_topic(AdminClient({"bootstrap.servers": cluster.bootstrap}), cluster.topic("offsets"))
    # Whoever makes it anew accepts the loss: by itself the service would not start.
    create_topic(cluster.bootstrap, cluster.topic("offsets"), 25, {"cleanup.policy": "compact"})
    cluster.restart("offset", signal.SIGKILL)
    offsets.become(saved(name))
    offsets.modify("PATCH", kept)
    offsets.become(saved(name, 10, 10))
    rest.configure(name, {**config, "max.messages": "15"})
    offsets.turn("resume", *["RUNNING"] * 3)
    offsets.become(saved(name, 15, 15))
    expected = [f"value-{name}-{task}-{number}" for task in range(2) for number in range(1, 16)]
    assert sorted(cluster.values(name)) == sorted(expected), "nothing is repeated and nothing missing"
