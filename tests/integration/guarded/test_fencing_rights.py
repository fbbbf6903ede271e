"""ExactlyOnceSourceIntegrationTest.testTasksFailOnInabilityToFence: who may not fence reads why."""

from __future__ import annotations

import pytest
from confluent_kafka.admin import AclOperation, ResourceType
from confluent_kafka.cimpl import NewTopic as ClientTopic
from copycat_testkit.kafka import unique

from tests.integration.emitting.system import System
from tests.integration.guarded.broker import PASSWORDS, GuardedKafka, overrides
from tests.integration.guarded.conftest import WRITING

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

TASKS = 2
EXACTLY_ONCE = {"tasks.max": str(TASKS), "exactly.once.support": "required"}


def test_tasks_fail_on_inability_to_fence(on: System, walls: GuardedKafka) -> None:
    """The first tasks have nobody to fence; the next ones fail until their admin client may fence these."""
    topic, name = unique("k158"), unique("fence")
    walls.admin.create_topics([ClientTopic(topic, 1, 1)])[topic].result(60)
    ids = f"{on.cluster.group}-{name}-"
    walls.allow("alice", ResourceType.TRANSACTIONAL_ID, ids, *WRITING)
    walls.allow("alice", ResourceType.TOPIC, on.cluster.topic("offsets"), *WRITING)
    users = overrides(producer="alice", admin="carol")
    config = {**on.emitter_config(name, tasks__max=str(TASKS)), **EXACTLY_ONCE, **users}
    on.emit(name, topic)

    on.rest.create(name, config)
    on.rest.runs(name, TASKS)
    on.has_topics(name, topic)
    on.rest.configure(name, {**config, "emit.changed": "yes"})
    on.rest.wait(name, "RUNNING", *["FAILED"] * TASKS)
    traces = [task["trace"] for task in on.rest.get(f"/connectors/{name}/status")["tasks"]]
    walls.allow("carol", ResourceType.TRANSACTIONAL_ID, ids, AclOperation.WRITE, AclOperation.DESCRIBE)
    on.rest.ok("POST", f"/connectors/{name}/restart?includeTasks=true&onlyFailed=false")
    on.rest.runs(name, TASKS)

    for trace in traces:
        assert ids in trace, "names the transactional id"
        assert "admin.override." in trace, "and whose rights are missing"
        assert not [word for word in PASSWORDS.values() if word in trace]


def test_a_task_that_may_not_use_its_transactional_id_says_so_and_starts_once_it_may(
    on: System, walls: GuardedKafka
) -> None:
    topic, name = unique("k158"), unique("id")
    walls.admin.create_topics([ClientTopic(topic, 1, 1)])[topic].result(60)
    walls.allow("alice", ResourceType.TOPIC, on.cluster.topic("offsets"), *WRITING)
    config = {**on.emitter_config(name), "delivery.guarantee": "exactly_once", **overrides(producer="alice")}
    on.emit(name, topic)

    on.rest.create(name, config)
    on.rest.wait(name, "RUNNING", "FAILED")
    trace = on.rest.get(f"/connectors/{name}/status")["tasks"][0]["trace"]
    transactional_id = f"{on.cluster.group}-{name}-0"
    walls.allow("alice", ResourceType.TRANSACTIONAL_ID, transactional_id, *WRITING)
    on.rest.ok("POST", f"/connectors/{name}/restart?includeTasks=true&onlyFailed=true")
    on.rest.runs(name)
    on.has_topics(name, topic)

    assert f"The transactional producer {transactional_id} could not begin: the producer may not use" in trace
    assert "Allow its principal WRITE and DESCRIBE on it" in trace
    assert not [word for word in PASSWORDS.values() if word in trace]
