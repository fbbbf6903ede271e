"""Who gets what, over gRPC."""

import asyncio
from pathlib import Path

import pytest
from copycat.scheduler.v1 import scheduler_service_pb2 as pb
from copycat_connect.cluster import Instance
from copycat_connect.errors import LogCompactedError
from copycat_eventlog.memory import MemoryTopic
from copycat_rpc.errors import RemoteError
from copycat_scheduler.adapters.codec import SchedulerCodec
from copycat_scheduler.domain.events import Assigned
from copycat_testkit.slow_log import SlowLog

from tests.contract.reading import answer_after, beyond
from tests.contract.scheduler.service import Cluster, running


async def test_the_first_worker_gets_everything_at_once() -> None:
    async with running(lease=60, orders=2) as cluster:
        answer = await cluster.worker("w1").beat()
        assert answer.lease_ms == 60_000
        assigned = await cluster.until_assigned(w1=3)
        assert set(assigned) == {("orders", None), ("orders", 0), ("orders", 1)}


async def test_a_new_connector_is_assigned() -> None:
    async with running() as cluster:
        await cluster.worker("w1").beat()
        cluster.config.put("orders", 1)
        await cluster.until_assigned(w1=2)


async def test_a_worker_without_a_name_is_refused() -> None:
    async with running() as cluster:
        with pytest.raises(RemoteError) as refused:
            await cluster.worker("").beat()
        assert refused.value.remote_code.name == "worker.unnamed"


async def test_a_second_worker_gets_its_share_when_the_first_has_drained_it() -> None:
    async with running(a=1, b=1) as cluster:
        first, second = cluster.worker("w1"), cluster.worker("w2")
        await first.beat()
        await first.hold(await cluster.until_assigned(w1=4))
        await second.beat()
        kept = await cluster.until_assigned(w1=2)
        await second.beat()
        assert len(await cluster.assigned()) == 2
        await first.hold(kept)
        moved = await cluster.until_assigned(w1=2, w2=2)
        assert {key: moved[key] for key in kept} == kept
        newest = max(each.generation for each in kept.values())
        assert all(each.generation > newest for key, each in moved.items() if key not in kept)


async def test_a_deleted_connector_is_unassigned() -> None:
    async with running(a=1, b=1) as cluster:
        await cluster.worker("w1").beat()
        await cluster.until_assigned(w1=4)
        cluster.config.delete("a")
        assert set(await cluster.until_assigned(w1=2)) == {("b", None), ("b", 0)}


async def test_pausing_and_editing_change_no_assignment() -> None:
    async with running(a=2) as cluster:
        await cluster.worker("w1").beat()
        before = await cluster.until_assigned(w1=3)
        cluster.config.put("a", 2, some_key="else")
        cluster.status.put("a", 0, "w1", 1, "PAUSED")
        cluster.config.put("b", 0)
        after = await cluster.until_assigned(w1=4)
        assert {key: after[key] for key in before} == before


async def test_a_watch_shows_a_snapshot_then_changes_and_can_be_resumed() -> None:
    async with running(a=0) as cluster:
        await cluster.worker("w1").beat()
        await cluster.until_assigned(w1=1)
        watch = aiter(cluster.stub.WatchAssignments(pb.WatchAssignmentsRequest()))
        first, complete = await anext(watch), await anext(watch)
        assert (first.assignment.instance.connector, first.assignment.worker_id) == ("a", "w1")
        assert complete.snapshot_complete
        cluster.config.put("b", 1)
        assert (await anext(watch)).assignment.instance == pb.Instance(connector="b")
        assert (await anext(watch)).assignment.instance == pb.Instance(connector="b", task=0)
        cluster.config.delete("a")
        assert (await anext(watch)).removed == pb.Instance(connector="a")

        resumed = aiter(
            cluster.stub.WatchAssignments(pb.WatchAssignmentsRequest(after_revision=complete.revision))
        )
        assert (await anext(resumed)).assignment.instance.connector == "b"


async def test_a_watch_from_before_this_instance_began_has_to_start_anew() -> None:
    cluster = Cluster()
    cluster.config.put("a", 0)
    async with cluster.peers() as peers:
        async with cluster.scheduler(peers):
            await cluster.worker("w1").beat()
            await cluster.until_assigned(w1=1)
        async with cluster.scheduler(peers):
            request = pb.WatchAssignmentsRequest()
            request.after_revision.next[0] = 0
            with pytest.raises(RemoteError) as refused:
                await anext(aiter(cluster.stub.WatchAssignments(request)))
            assert refused.value.remote_code.name == LogCompactedError.code.name


async def test_sink_partitions_are_divided_and_follow_the_topics() -> None:
    async with running() as cluster:
        cluster.topics.update({"t": 3, "__consumer_offsets": 50, "other": 1})
        worker = cluster.worker("w1")
        await worker.beat()
        cluster.config.put("sink", 2, topics_regex="t.*|__.*")
        assigned = await cluster.until_assigned(w1=3)
        read = {key[1]: [each.partition for each in a.partitions] for key, a in assigned.items()}
        assert read == {None: [], 0: [0, 2], 1: [1]}
        await worker.hold(assigned)

        cluster.topics["t"] = 4
        drained = await cluster.until_assigned(w1=2)
        await worker.hold(drained)
        grown = await cluster.until_assigned(w1=3)
        assert [each.partition for each in grown[("sink", 1)].partitions] == [1, 3]
        assert grown[("sink", 1)].generation > assigned[("sink", 1)].generation
        assert grown[("sink", 0)] == assigned[("sink", 0)]


async def test_a_source_whose_own_key_is_called_topics_is_assigned_no_partitions() -> None:
    async with running() as cluster:
        cluster.topics["t"] = 2
        await cluster.worker("w1").beat()
        cluster.config.put("mirror", 1, sink=False, topics="t")
        cluster.config.put("sink", 1, topics="t")
        assigned = await cluster.until_assigned(w1=4)
        assert len(assigned[("sink", 0)].partitions) == 2
        assert len(assigned[("mirror", 0)].partitions) == 0


async def test_topics_written_as_a_placeholder_are_read(tmp_path: Path) -> None:
    secrets = tmp_path / "secrets.properties"
    secrets.write_text("topic=t\n")
    provider = "org.apache.kafka.common.config.provider.FileConfigProvider"
    cluster = Cluster(properties={"config.providers": "file", "config.providers.file.class": provider})
    cluster.topics["t"] = 2
    async with cluster.peers() as peers, cluster.scheduler(peers):
        worker = cluster.worker("w1")
        await worker.beat()
        cluster.config.put("sink", 1, topics=f"${{file:{secrets}:topic}}")
        assigned = await cluster.until_assigned(w1=2)
        assert [each.topic for each in assigned[("sink", 0)].partitions] == ["t", "t"]

        await worker.hold(assigned)
        secrets.unlink()  # what is known stays when it cannot be looked up again
        cluster.config.put("sink", 1, topics=f"${{file:{secrets}:topic}}")
        cluster.topics["t"] = 3
        await worker.hold(await cluster.until_assigned(w1=1))
        grown = await cluster.until_assigned(w1=2)
        assert len(grown[("sink", 0)].partitions) == 3


async def test_a_generation_is_above_every_status_ever_seen() -> None:
    cluster = Cluster()
    cluster.config.put("a", 0)
    cluster.status.put("a", None, "old:8083", 41, "UNASSIGNED")
    async with cluster.peers() as peers, cluster.scheduler(peers):
        await cluster.worker("w1").beat()
        assigned = await cluster.until_assigned(w1=1)
        assert assigned[("a", None)].generation == 42


async def test_one_assignment_is_read_from_the_end_of_the_log_however_old_the_fold_is() -> None:
    logs: list[SlowLog] = []

    def open_log(topic: MemoryTopic) -> SlowLog:
        logs.append(SlowLog(topic))
        return logs[-1]

    cluster = Cluster(open_log=open_log)
    cluster.config.put("a", 1)
    async with cluster.peers() as peers, cluster.scheduler(peers):
        await cluster.worker("w1").beat()
        before = await cluster.until_assigned(w1=2)
        request = pb.GetAssignmentRequest(instance=pb.Instance(connector="a", task=0))
        first = await cluster.stub.GetAssignment(request)
        logs[0].lag()

        newer = Assigned(Instance("a", 0), "w2", 1000)
        cluster.log.write([SchedulerCodec().encode(newer)])
        asked = asyncio.ensure_future(cluster.stub.GetAssignment(request))
        old = await cluster.stub.ListAssignments(pb.ListAssignmentsRequest())
        waits = not asked.done()
        logs[0].catch_up()
        answer = await asked
        nowhere = await cluster.stub.GetAssignment(
            pb.GetAssignmentRequest(instance=pb.Instance(connector="a", task=7))
        )

    assert first.assignment == before[("a", 0)]
    assert {each.worker_id for each in old.assignments} == {"w1"}
    assert waits
    assert (answer.assignment.worker_id, answer.assignment.generation) == ("w2", 1000)
    assert not nowhere.HasField("assignment")


async def test_a_read_waits_for_the_revision_it_asks_for() -> None:
    async with running(a=0) as cluster:
        await cluster.worker("w1").beat()
        await cluster.until_assigned(w1=1)
        read = await cluster.stub.ListAssignments(pb.ListAssignmentsRequest())

        async def configure() -> None:
            cluster.config.put("b")

        answer = await answer_after(
            lambda asked: cluster.stub.ListAssignments(pb.ListAssignmentsRequest(min_revision=asked)),
            beyond(read.revision),
            configure,
        )

        assert [each.instance.connector for each in answer.assignments] == ["a", "b"]
        assert answer.revision == beyond(read.revision)
