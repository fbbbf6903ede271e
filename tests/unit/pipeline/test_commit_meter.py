"""What becomes of commits of offsets, and how long they take."""

from __future__ import annotations

import pytest
from copycat_executor.pipeline.task.measures import CommitMeter, Measures

from tests.unit.pipeline.fakes import Clock

TIME, FAILURE, SKIP = "offset-commit-time-ms", "offset-commit-failure", "offset-commit-skip"
COMPLETION, NUMBER = "offset-commit-completion", "offset-commit-seq-no"


class World:
    """A meter with its clock."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.measures = Measures(self.clock)
        self.meter = CommitMeter(self.measures)

    def acknowledge(self, sequence: int, *, after: float = 0.0) -> None:
        """Begin a commit and acknowledge its offsets some seconds later."""
        self.meter.begin()
        self.clock.now += after
        self.meter.acknowledged(sequence)

    def settle(self, sequence: int, error: str = "", *, after: float = 0.0) -> None:
        """Have a commit answered some seconds later."""
        self.clock.now += after
        self.meter.settled(sequence, error)

    def totals(self) -> dict[str, float]:
        """Return the sums of what was noted, but for the sequence number."""
        return {name: each.total for name, each in self.measures.take().items() if name != NUMBER}


def test_a_commit_takes_from_its_beginning_to_its_answer() -> None:
    world = World()

    world.acknowledge(1, after=2)
    assert world.totals() == {}
    world.settle(1, after=3)

    assert world.totals() == {COMPLETION: 1, TIME: pytest.approx(5000)}


def test_a_commit_with_nothing_to_commit_has_succeeded() -> None:
    world = World()

    world.meter.begin()
    world.clock.now += 0.5
    world.meter.nothing_new()

    assert world.totals() == {TIME: pytest.approx(500)}


def test_a_commit_that_was_refused_has_failed_and_no_time() -> None:
    world = World()

    world.acknowledge(1)
    world.settle(1, "away", after=3)

    assert world.totals() == {FAILURE: 1}


def test_a_commit_that_never_came_to_be_acknowledged_has_failed() -> None:
    world = World()

    world.meter.begin()
    world.meter.failed()

    assert world.totals() == {FAILURE: 1}


def test_commits_under_way_at_once_keep_their_own_times() -> None:
    world = World()
    world.acknowledge(1)
    world.clock.now += 10
    world.acknowledge(2)

    world.settle(1, after=1)
    world.settle(2, after=1)

    times = world.measures.take()[TIME]
    assert times.count == 2
    assert (times.highest, times.lowest) == pytest.approx((11_000, 2000))


@pytest.mark.parametrize("error", ["", "away"])
def test_an_answer_that_comes_after_that_of_a_later_commit_is_skipped(error: str) -> None:
    world = World()
    world.acknowledge(1)
    world.acknowledge(2)
    world.settle(2)
    world.totals()

    world.settle(1, error)

    assert world.totals() == {SKIP: 1}


def test_a_later_commit_that_failed_supersedes_none() -> None:
    world = World()
    world.acknowledge(1)
    world.acknowledge(2)

    world.settle(2, "away")
    world.settle(1)

    assert world.totals() == {FAILURE: 1, COMPLETION: 1, TIME: 0}


def test_an_answer_to_nothing_is_not_counted() -> None:
    world = World()
    world.acknowledge(1)
    world.settle(1)
    world.totals()

    world.settle(1)
    world.settle(7)

    assert world.totals() == {}


def test_the_number_of_the_newest_commit_is_told_before_its_answer() -> None:
    world = World()

    world.acknowledge(1)
    world.acknowledge(2)

    assert world.measures.take()[NUMBER].last == 2
