"""Moves: a settled cluster that gains or loses a worker moves what it must and nothing more."""

from copycat_connect.cluster import Instance
from copycat_scheduler.domain.commands import Desired
from copycat_scheduler.domain.events import Assigned
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.scheduler.cluster import Cluster, Worker

DESIRED = st.dictionaries(st.sampled_from("abcdefgh"), st.builds(Desired, st.integers(0, 6)), min_size=1)
WORKERS = st.integers(2, 5)


def settled(desired: dict[str, Desired], workers: int) -> Cluster:
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
    desired: dict[str, Desired], workers: int
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
    desired: dict[str, Desired], workers: int, drains: bool
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
    desired: dict[str, Desired], workers: int, drains: bool
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
def test_the_last_worker_that_is_left_gets_everything(desired: dict[str, Desired], workers: int) -> None:
    cluster = settled(desired, workers)
    wanted = placed(cluster).keys()
    for number in range(1, workers):
        cluster.kill(f"w{number}")
        cluster.settle()
    assert placed(cluster).keys() == wanted
    assert {each.worker_id for each in placed(cluster).values()} == {"w0"}


@given(DESIRED, WORKERS)
def test_what_a_worker_had_stays_its_own_during_the_delay_and_moves_after_it(
    desired: dict[str, Desired], workers: int
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
