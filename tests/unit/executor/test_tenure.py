"""How long a worker may go on, on a clock made of numbers."""

from __future__ import annotations

from copycat_executor.state.tenure import MARGIN_SECONDS, Tenure


class World:
    def __init__(self) -> None:
        self.now = 100.0
        self.tenure = Tenure(lambda: self.now)

    def join(self) -> None:
        self.tenure.renewed(self.now, 5.0)
        self.tenure.known(self.tenure.lapses)


def test_it_holds_once_the_scheduler_has_answered_and_the_assignments_are_known() -> None:
    world = World()
    assert not world.tenure.holds()
    world.tenure.renewed(world.now, 5.0)
    assert not world.tenure.holds()
    world.tenure.known(world.tenure.lapses)
    assert world.tenure.holds()


def test_it_counts_from_when_the_heartbeat_was_sent() -> None:
    world = World()
    world.join()
    world.now = 103.0
    world.tenure.renewed(101.0, 5.0)
    assert world.tenure.remaining() == 3.0 - MARGIN_SECONDS
    world.now = 106.0
    assert not world.tenure.holds()


def test_an_answer_that_comes_after_a_lapse_does_not_undo_it() -> None:
    world = World()
    world.join()
    world.now = 120.0
    world.tenure.renewed(120.0, 5.0)
    assert not world.tenure.holds()
    assert world.tenure.remaining() == 0.0


def test_assignments_of_before_a_lapse_do_not_count_after_it() -> None:
    world = World()
    world.join()
    before = world.tenure.lapses
    world.now = 120.0
    world.tenure.renewed(120.0, 5.0)
    world.tenure.known(before)
    assert not world.tenure.holds()
    world.tenure.known(world.tenure.lapses)
    assert world.tenure.holds()


def test_while_no_scheduler_could_give_anything_away_it_goes_on() -> None:
    world = World()
    world.join()
    world.now = 104.0
    world.tenure.nobody_else(103.0)
    world.now = 107.9
    assert world.tenure.holds()
    world.now = 108.0
    assert not world.tenure.holds()
