"""The decision what to assign and unassign, case by case, and that it moves no more than it must."""

from __future__ import annotations

import pytest
from copycat_connect.cluster import Instance, TopicPartition
from copycat_scheduler.domain.commands import DesiredConnector, Reschedule
from copycat_scheduler.domain.decide import decide
from copycat_scheduler.domain.events import Assigned, Unassigned
from copycat_scheduler.domain.state import SchedulerState
from hypothesis import given
from hypothesis import strategies as st
from immutables import Map

from tests.unit.scheduler.cluster import Cluster, Worker


def _cluster(workers: int = 1, **desired: DesiredConnector) -> Cluster:
    return Cluster(desired=dict(desired), workers={f"w{index}": Worker() for index in range(workers)})


def _partitions(count: int, topic: str = "t") -> tuple[TopicPartition, ...]:
    return tuple(TopicPartition(topic, index) for index in range(count))


def _state(*assigned: Assigned) -> SchedulerState:
    return SchedulerState(Map({each.instance: each for each in assigned}))


def test_the_first_worker_gets_everything_at_once() -> None:
    events = _cluster(1, orders=DesiredConnector(2)).plan()
    assert events == (
        Assigned(Instance("orders"), "w0", 1),
        Assigned(Instance("orders", 0), "w0", 1),
        Assigned(Instance("orders", 1), "w0", 1),
    )


def test_without_workers_nothing_is_assigned() -> None:
    assert _cluster(0, orders=DesiredConnector(2)).plan() == ()


def test_a_connector_and_its_only_task_go_to_different_workers() -> None:
    cluster = _cluster(2, orders=DesiredConnector(1))
    assert [event.worker_id for event in cluster.plan() if isinstance(event, Assigned)] == ["w0", "w1"]


def test_four_connectors_of_four_tasks_are_spread_over_three_workers() -> None:
    cluster = _cluster(3, **{f"c{index}": DesiredConnector(4) for index in range(4)})
    cluster.settle()
    assert sorted(cluster.loads(tasks=False)) == [1, 1, 2]
    assert sorted(cluster.loads(tasks=True)) == [5, 5, 6]


def test_tasks_of_one_connector_are_spread_first() -> None:
    cluster = _cluster(2, big=DesiredConnector(2), small=DesiredConnector(2))
    cluster.settle()
    places = {i: a.worker_id for i, a in cluster.state.assignments.items()}
    assert places[Instance("big", 0)] != places[Instance("big", 1)]
    assert places[Instance("small", 0)] != places[Instance("small", 1)]


@pytest.mark.parametrize("workers", [1, 2, 3, 5])
def test_a_new_worker_gets_its_share_and_nothing_else_moves(workers: int) -> None:
    cluster = _cluster(workers, **{f"c{index}": DesiredConnector(3) for index in range(7)})
    cluster.settle()
    cluster.workers["new"] = Worker()
    moved = [event.instance for event in cluster.settle() if isinstance(event, Unassigned)]
    assert sum(1 for each in moved if each.task is None) == 7 // (workers + 1)
    assert sum(1 for each in moved if each.task is not None) == 21 // (workers + 1)


def test_an_instance_is_assigned_again_only_when_its_former_worker_does_not_hold_it() -> None:
    cluster = _cluster(1, a=DesiredConnector(0), b=DesiredConnector(0))
    cluster.settle()
    cluster.workers["w1"] = Worker()
    assert cluster.plan() == (Unassigned(Instance("b")),)
    assert cluster.plan() == ()
    cluster.follow("w0")
    assert [event.worker_id for event in cluster.plan() if isinstance(event, Assigned)] == ["w1"]


def test_everything_of_a_dead_worker_moves_at_once_to_the_rest() -> None:
    cluster = _cluster(3, **{f"c{index}": DesiredConnector(4) for index in range(4)})
    cluster.settle()
    kept = {i: a for i, a in cluster.state.assignments.items() if a.worker_id != "w1"}
    cluster.kill("w1")
    events = cluster.plan()
    assert all(isinstance(event, Assigned) for event in events)
    assert len(cluster.state.assignments) == 20
    assert kept.items() <= dict(cluster.state.assignments).items()


@pytest.mark.row("K26-36")
def test_what_an_absent_worker_has_stays_its_own() -> None:
    cluster = _cluster(2, a=DesiredConnector(2), b=DesiredConnector(2))
    cluster.settle()
    cluster.kill("w1")
    cluster.absent.add("w1")
    assert cluster.plan() == ()
    cluster.absent.clear()
    assert {event.worker_id for event in cluster.plan() if isinstance(event, Assigned)} == {"w0"}


def test_a_leaving_worker_is_drained_and_gets_nothing() -> None:
    cluster = _cluster(2, a=DesiredConnector(2), b=DesiredConnector(2))
    cluster.settle()
    cluster.workers["w0"].leaving = True
    cluster.settle()
    assert {each.worker_id for each in cluster.state.assignments.values()} == {"w1"}
    assert len(cluster.state.assignments) == 6


def test_the_last_worker_may_leave_too() -> None:
    cluster = _cluster(1, a=DesiredConnector(1))
    cluster.settle()
    cluster.workers["w0"].leaving = True
    cluster.settle()
    assert not cluster.state.assignments


def test_deleted_connectors_and_surplus_tasks_are_unassigned() -> None:
    cluster = _cluster(1, a=DesiredConnector(2), b=DesiredConnector(1))
    cluster.settle()
    cluster.desired = {"a": DesiredConnector(1)}
    assert cluster.plan() == (
        Unassigned(Instance("a", 1)),
        Unassigned(Instance("b")),
        Unassigned(Instance("b", 0)),
    )


@pytest.mark.row("K875-38")
def test_a_stopped_connector_keeps_its_place_without_tasks() -> None:
    cluster = _cluster(1, a=DesiredConnector(2))
    cluster.settle()
    cluster.desired = {"a": DesiredConnector(0)}
    cluster.settle()
    assert set(cluster.state.assignments) == {Instance("a")}


def test_an_instance_returns_to_the_worker_that_ran_it_last() -> None:
    world = Reschedule(
        desired={"a": DesiredConnector(2)},
        workers={"w0", "w1", "w2"},
        former={Instance("a"): "w2", Instance("a", 0): "w2", Instance("a", 1): "w2"},
        generation=1,
    )
    assert decide(world, SchedulerState()) == (
        Assigned(Instance("a"), "w2", 1),
        Assigned(Instance("a", 0), "w2", 1),
        Assigned(Instance("a", 1), "w0", 1),
    )


def test_the_partitions_of_a_sink_are_divided_among_its_tasks() -> None:
    cluster = _cluster(1, sink=DesiredConnector(2, _partitions(5)))
    cluster.settle()
    t = _partitions(5)
    assert cluster.state.assignments[Instance("sink", 0)].partitions == (t[0], t[2], t[4])
    assert cluster.state.assignments[Instance("sink", 1)].partitions == (t[1], t[3])


def test_tasks_of_a_sink_wait_until_its_partitions_are_known_but_its_connector_does_not() -> None:
    cluster = _cluster(1, sink=DesiredConnector(2, None))
    cluster.settle()
    assert set(cluster.state.assignments) == {Instance("sink")}


def test_tasks_of_a_sink_keep_their_partitions_while_these_are_unknown() -> None:
    cluster = _cluster(1, sink=DesiredConnector(2, _partitions(4)))
    cluster.settle()
    cluster.desired = {"sink": DesiredConnector(2, None)}
    assert cluster.plan() == ()


def test_a_new_partition_restarts_only_the_task_that_gets_it_and_leaves_it_where_it_is() -> None:
    cluster = _cluster(2, sink=DesiredConnector(2, _partitions(3)))
    cluster.settle()
    before = cluster.state.assignments
    cluster.desired = {"sink": DesiredConnector(2, _partitions(4))}
    cluster.settle()
    after, task = cluster.state.assignments, Instance("sink", 1)
    assert after[task].partitions == (TopicPartition("t", 1), TopicPartition("t", 3))
    assert after[task].worker_id == before[task].worker_id
    assert after[task].generation > before[task].generation
    assert after.delete(task) == before.delete(task)


def test_a_task_that_moves_takes_its_partitions_along() -> None:
    cluster = _cluster(1, sink=DesiredConnector(4, _partitions(6)))
    cluster.settle()
    before = {i: a.partitions for i, a in cluster.state.assignments.items()}
    cluster.workers["w1"] = Worker()
    cluster.settle()
    assert {i: a.partitions for i, a in cluster.state.assignments.items()} == before


def test_a_sink_with_more_tasks_starts_none_before_the_readers_of_its_partitions_drained() -> None:
    cluster = _cluster(1, sink=DesiredConnector(1, _partitions(4)))
    cluster.settle()
    cluster.desired = {"sink": DesiredConnector(2, _partitions(4))}
    assert cluster.plan() == (Unassigned(Instance("sink", 0)),)
    cluster.settle()
    assert [len(cluster.state.assignments[Instance("sink", t)].partitions) for t in (0, 1)] == [2, 2]


def test_a_worker_that_holds_an_instance_it_was_not_given_keeps_others_from_it() -> None:
    world = Reschedule(
        desired={"a": DesiredConnector(0)}, workers={"w0", "w1"}, held={Instance("a"): {"w1"}}, generation=5
    )
    assert decide(world, SchedulerState()) == ()


def test_an_assignment_in_force_is_not_repeated() -> None:
    world = Reschedule(desired={"a": DesiredConnector(0)}, workers={"w0"}, generation=9)
    assert decide(world, _state(Assigned(Instance("a"), "w0", 3))) == ()


DESIRED = st.dictionaries(
    st.sampled_from("abcdefgh"), st.builds(DesiredConnector, st.integers(0, 6)), min_size=1
)
WORKERS = st.integers(2, 5)


def settled(desired: dict[str, DesiredConnector], workers: int) -> Cluster:
    cluster = Cluster(desired=dict(desired))
    for number in range(workers):
        cluster.workers[f"w{number}"] = Worker()
        cluster.settle()
    return cluster


def placed(cluster: Cluster) -> dict[Instance, Assigned]:
    return dict(cluster.state.assignments)


def fewest(loads: list[int], workers: int) -> int:
    """How many of one kind have to leave the workers that stay, so that all `workers` have even loads."""
    floor, left_over = divmod(sum(loads), workers)
    limits = [floor + (rank < left_over) for rank in range(workers)]
    return sum(max(0, load - limit) for load, limit in zip(sorted(loads, reverse=True), limits, strict=False))


@given(DESIRED, WORKERS)
def test_a_worker_that_joins_gets_its_share_by_the_fewest_moves(
    desired: dict[str, DesiredConnector], workers: int
) -> None:
    cluster = settled(desired, workers)
    before = placed(cluster)
    must = sum(fewest(cluster.loads(tasks=tasks), workers + 1) for tasks in (False, True))

    cluster.workers["late"] = Worker()
    cluster.settle()

    after = placed(cluster)
    moved = [instance for instance in before if after[instance] != before[instance]]
    assert len(moved) == must
    assert {after[instance].worker_id for instance in moved} <= {"late"}


@given(DESIRED, WORKERS, st.booleans())
def test_a_worker_that_goes_moves_only_what_it_had(
    desired: dict[str, DesiredConnector], workers: int, drains: bool
) -> None:
    cluster = settled(desired, workers)
    before = placed(cluster)

    if drains:
        cluster.workers["w0"].leaving = True
    else:
        cluster.kill("w0")
    cluster.settle()

    after = placed(cluster)
    moved = {instance for instance in before if after[instance] != before[instance]}
    assert after.keys() == before.keys()
    assert moved == {instance for instance, each in before.items() if each.worker_id == "w0"}


@given(DESIRED, WORKERS, st.booleans())
def test_workers_that_go_and_come_back_one_after_the_other_move_nothing_of_the_others(
    desired: dict[str, DesiredConnector], workers: int, drains: bool
) -> None:
    cluster = settled(desired, workers)
    for name in list(cluster.workers):
        before = placed(cluster)
        if drains:
            cluster.workers[name].leaving = True
            cluster.settle()
        cluster.kill(name)
        cluster.settle()
        cluster.workers[name] = Worker()
        cluster.settle()
        moved = {instance for instance, each in before.items() if placed(cluster)[instance] != each}
        assert moved == {instance for instance, each in before.items() if each.worker_id == name}


@given(DESIRED, WORKERS)
def test_the_last_worker_that_is_left_gets_everything(
    desired: dict[str, DesiredConnector], workers: int
) -> None:
    cluster = settled(desired, workers)
    wanted = placed(cluster).keys()
    for number in range(1, workers):
        cluster.kill(f"w{number}")
        cluster.settle()
    assert placed(cluster).keys() == wanted
    assert {each.worker_id for each in placed(cluster).values()} == {"w0"}


@given(DESIRED, WORKERS)
def test_what_a_worker_had_stays_its_own_during_the_delay_and_moves_after_it(
    desired: dict[str, DesiredConnector], workers: int
) -> None:
    cluster = settled(desired, workers)
    before = placed(cluster)

    cluster.kill("w0")
    cluster.absent.add("w0")
    cluster.settle()
    assert placed(cluster) == before

    cluster.absent.clear()
    cluster.settle()
    assert all(each.worker_id != "w0" for each in placed(cluster).values())
    assert placed(cluster).keys() == before.keys()
