from __future__ import annotations

from copycat_connect.cluster import Instance
from copycat_executor.domain.deaths import (
    CALM_AFTER_SECONDS,
    MAX_LOST_ORDERS,
    MAX_QUICK_REPEATS,
    Deaths,
    after_death,
)
from copycat_executor.domain.placement import HostView, Isolation, ResidencyRules, Upkeep, upkeep

RULES = ResidencyRules(slots=4, lifetime=1800.0, linger=5.0, spares=1)


def busy(name: str, launched: float = 0.0, *, retiring: bool = False) -> HostView:
    return HostView(name, launched, {Instance("a", 0): Isolation.AUTO}, retiring=retiring)


def test_one_fresh_host_is_kept_ready() -> None:
    assert upkeep([], 0.0, RULES) == Upkeep(launch=1)
    assert upkeep([busy("h1"), HostView("h2", 0.0)], 0.0, RULES) == Upkeep()


def test_no_fresh_host_is_launched_when_every_slot_is_taken() -> None:
    assert upkeep([busy(f"h{i}") for i in range(4)], 0.0, RULES) == Upkeep()


def test_superfluous_fresh_hosts_end() -> None:
    assert upkeep([HostView("h1", 0.0), HostView("h2", 0.0)], 0.0, RULES) == Upkeep(end=("h2",))


def test_a_used_host_lingers_then_ends() -> None:
    hosts = [HostView("h1", 0.0, former="a", empty_since=10.0), HostView("h2", 0.0)]
    assert upkeep(hosts, 14.9, RULES) == Upkeep()
    assert upkeep(hosts, 15.0, RULES) == Upkeep(end=("h1",))


def test_old_hosts_are_left_one_at_a_time_the_oldest_first() -> None:
    hosts = [busy("h1", 5.0), busy("h2", 1.0), HostView("h3", 1000.0)]
    assert upkeep(hosts, 1900.0, RULES) == Upkeep(retire=("h2",))
    left = [busy("h1", 5.0), busy("h2", 1.0, retiring=True), HostView("h3", 1000.0)]
    assert upkeep(left, 1900.0, RULES) == Upkeep()


def test_a_retiring_host_ends_once_it_is_empty() -> None:
    hosts = [HostView("h1", 0.0, former="a", retiring=True, empty_since=9.0), HostView("h2", 0.0)]
    assert upkeep(hosts, 9.0, RULES) == Upkeep(end=("h1",))


def test_an_old_fresh_host_is_replaced() -> None:
    assert upkeep([HostView("h1", 0.0)], 1800.0, RULES) == Upkeep(end=("h1",), launch=1)


def test_a_task_whose_hosts_keep_dying_becomes_hopeless() -> None:
    deaths: Deaths | None = None
    for death in range(MAX_QUICK_REPEATS):
        deaths = after_death(deaths, float(death), taken=True)
        assert not deaths.hopeless
    assert after_death(deaths, 10.0, taken=True).hopeless


def test_hosts_that_died_before_they_took_the_task_are_counted_apart_and_bounded() -> None:
    deaths = after_death(None, 0.0, taken=True)
    for _ in range(MAX_LOST_ORDERS):
        deaths = after_death(deaths, 0.0, taken=False)
    assert deaths == Deaths(1, MAX_LOST_ORDERS, 0.0)
    assert not deaths.hopeless
    assert after_death(deaths, 0.0, taken=False).hopeless


def test_a_death_after_a_calm_time_counts_anew() -> None:
    assert after_death(Deaths(3, 9, 0.0), CALM_AFTER_SECONDS, taken=True) == Deaths(1, 0, CALM_AFTER_SECONDS)
