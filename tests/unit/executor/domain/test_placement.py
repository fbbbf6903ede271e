"""Which host a task gets, which hosts are kept, how many tasks a connector may have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from copycat_connect.cluster import Instance
from copycat_executor.domain.deaths import (
    CALM_AFTER_SECONDS,
    MAX_LOST_ORDERS,
    MAX_QUICK_REPEATS,
    Deaths,
    after_death,
)
from copycat_executor.domain.placement import (
    HostUpkeep,
    HostView,
    InHost,
    Isolation,
    NewHost,
    NoPlace,
    ResidencyRules,
    place,
    place_apart,
    upkeep,
)
from copycat_executor.domain.task_limit import tasks_max
from hypothesis import given
from hypothesis import strategies as st

AUTO, TASK, CONNECTOR, SHARED = Isolation.AUTO, Isolation.TASK, Isolation.CONNECTOR, Isolation.SHARED


def host(name: str, *tasks: Instance, isolation: Isolation = AUTO, former: str | None = None) -> HostView:
    return HostView(name, 0.0, dict.fromkeys(tasks, isolation), former=former)


def test_a_task_takes_the_fresh_host_that_is_ready() -> None:
    hosts = [host("h1", Instance("a", 0)), host("h2")]
    assert place(Instance("b", 0), AUTO, hosts, 4) == InHost("h2")


def test_a_task_returns_to_the_host_its_connector_has_just_left() -> None:
    hosts = [host("fresh"), host("left", former="a"), host("other", former="b")]
    assert place(Instance("a", 0), AUTO, hosts, 4) == InHost("left")


def test_a_used_host_is_not_handed_to_another_connector() -> None:
    assert place(Instance("a", 0), AUTO, [host("h1", former="b")], 4) == NewHost()


def test_beyond_the_slots_a_host_another_connector_left_is_taken() -> None:
    for isolation in (AUTO, TASK, CONNECTOR):
        assert place(Instance("a", 0), isolation, [host("h1", former="b")], 1) == InHost("h1")


def test_each_task_has_its_own_host_while_slots_are_free() -> None:
    assert place(Instance("a", 1), AUTO, [host("h1", Instance("a", 0))], 2) == NewHost()


def test_beyond_the_slots_tasks_of_one_connector_share_first() -> None:
    hosts = [host("h1", Instance("b", 0)), host("h2", Instance("a", 0), Instance("a", 1))]
    assert place(Instance("a", 2), AUTO, hosts, 2) == InHost("h2")


def test_beyond_the_slots_the_emptiest_host_is_shared() -> None:
    hosts = [host("h1", Instance("b", 0), Instance("b", 1)), host("h2", Instance("c", 0))]
    assert place(Instance("a", 0), AUTO, hosts, 2) == InHost("h2")


def test_a_retiring_host_takes_nothing_and_keeps_its_slot() -> None:
    retiring = replace(host("h1"), retiring=True)
    assert place(Instance("a", 0), AUTO, [retiring], 1) == NoPlace(None)
    assert place(Instance("a", 0), AUTO, [retiring], 2) == NewHost()


def test_an_isolated_task_waits_while_shared_hosts_make_room() -> None:
    hosts = [host("h1", Instance("a", 0), Instance("a", 1)), host("h2", Instance("b", 0))]
    assert place(Instance("c", 0), TASK, hosts, 2) == NoPlace("h2")


def test_an_isolated_task_among_isolated_tasks_has_no_place() -> None:
    assert place(Instance("c", 0), TASK, [host("h1", Instance("a", 0), isolation=TASK)], 1) == NoPlace(None)


def test_nobody_joins_an_isolated_task() -> None:
    assert place(Instance("a", 1), AUTO, [host("h1", Instance("a", 0), isolation=TASK)], 1) == NoPlace(None)


def test_tasks_of_an_isolated_connector_gather_in_one_host() -> None:
    hosts = [host("h1", Instance("a", 0), isolation=CONNECTOR), host("h2")]
    assert place(Instance("a", 1), CONNECTOR, hosts, 4) == InHost("h1")
    assert place(Instance("b", 0), CONNECTOR, hosts, 4) == InHost("h2")


def test_tasks_that_share_gather_though_slots_are_free() -> None:
    hosts = [host("h1", Instance("a", 0), isolation=SHARED), host("h2", Instance("b", 0)), host("h3")]
    assert place(Instance("c", 0), SHARED, hosts, 8) == InHost("h1")


def test_a_suspect_is_alone_while_others_have_a_slot_to_share() -> None:
    hosts = [host("h1", Instance("a", 0)), host("h2")]
    assert place_apart(Instance("b", 0), AUTO, hosts, 3, foremost=False) == (InHost("h2"), TASK)


def test_the_last_slot_that_one_can_have_for_itself_is_for_who_is_most_suspect() -> None:
    hosts = [host("h1", Instance("a", 0)), host("h2")]
    assert place_apart(Instance("b", 0), AUTO, hosts, 2, foremost=False) == (InHost("h2"), AUTO)
    assert place_apart(Instance("b", 0), AUTO, hosts, 2, foremost=True) == (InHost("h2"), TASK)


def test_others_make_room_for_who_is_most_suspect() -> None:
    hosts = [host("h1", Instance("a", 0)), host("h2", Instance("b", 0))]
    assert place_apart(Instance("c", 0), AUTO, hosts, 2, foremost=True) == (NoPlace("h1"), TASK)
    assert place_apart(Instance("c", 0), AUTO, hosts, 2, foremost=False) == (InHost("h1"), AUTO)


def test_while_room_is_made_who_is_most_suspect_joins_nobody() -> None:
    hosts = [replace(host("h1", Instance("a", 0)), retiring=True), host("h2", Instance("b", 0))]
    assert place_apart(Instance("c", 0), AUTO, hosts, 2, foremost=True) == (NoPlace(None), TASK)


def test_a_suspect_leaves_the_last_slot_to_all() -> None:
    hosts = [host("h1", Instance("a", 0), isolation=TASK), host("h2")]
    assert place_apart(Instance("b", 0), AUTO, hosts, 2, foremost=True) == (InHost("h2"), AUTO)
    assert place_apart(Instance("b", 0), AUTO, [], 1, foremost=True) == (NewHost(), AUTO)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=40), st.integers(1, 6))
def test_tasks_that_may_share_find_a_place_however_many_are_suspected(
    arrivals: list[tuple[str, bool]], slots: int
) -> None:
    hosts: dict[str, HostView] = {}
    for index, (connector, suspected) in enumerate(arrivals):
        task, views = Instance(connector, index), list(hosts.values())
        if suspected:
            chosen, isolation = place_apart(task, AUTO, views, slots, foremost=False)
        else:
            chosen, isolation = place(task, AUTO, views, slots), AUTO
        match chosen:
            case InHost(host_id):
                hosts[host_id] = replace(hosts[host_id], tasks={**hosts[host_id].tasks, task: isolation})
            case NewHost():
                hosts[f"h{index}"] = host(f"h{index}", task, isolation=isolation)
            case NoPlace():
                pytest.fail(f"no place for {task} in {views}")


def test_an_unknown_isolation_counts_as_not_given() -> None:
    assert Isolation.of({"isolation": "alone"}) is AUTO
    assert Isolation.of({"isolation": "Task"}) is TASK


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(Isolation)), max_size=40),
    st.integers(1, 6),
)
def test_whatever_comes_slots_and_isolation_hold(arrivals: list[tuple[str, Isolation]], slots: int) -> None:
    kinds = dict(arrivals)
    hosts: dict[str, HostView] = {}
    for index, (connector, _) in enumerate(arrivals):
        task, isolation = Instance(connector, index), kinds[connector]
        match place(task, isolation, list(hosts.values()), slots):
            case InHost(host_id):
                hosts[host_id] = replace(hosts[host_id], tasks={**hosts[host_id].tasks, task: isolation})
            case NewHost():
                hosts[f"h{index}"] = host(f"h{index}", task, isolation=isolation)
            case NoPlace():
                assert len(hosts) >= slots
    assert len(hosts) <= slots
    for view in hosts.values():
        held = set(view.tasks.values())
        assert TASK not in held or len(view.tasks) == 1
        assert CONNECTOR not in held or len({task.connector for task in view.tasks}) == 1


@pytest.mark.parametrize(
    ("config", "most"),
    [
        ({}, 1),
        ({"tasks.max": "3"}, 3),
        ({"tasks.max": "none"}, 1),
        ({"connector.tasks.max": "20"}, 20),
        ({"tasks.max": "3", "connector.tasks.max": "20"}, 3),
        ({"tasks.max": "9" * 5_000}, 1),
        ({"tasks.max": "²"}, 1),
        ({"tasks.max": "-2"}, 1),
    ],
    ids=["none", "today's", "wrong", "kip-26", "both", "no end", "no digit of Java's", "below"],
)
def test_the_most_tasks(config: Mapping[str, str], most: int) -> None:
    assert tasks_max(config) == most


RULES = ResidencyRules(slots=4, lifetime=1800.0, linger=5.0, spares=1)


def busy(name: str, launched: float = 0.0, *, retiring: bool = False) -> HostView:
    return HostView(name, launched, {Instance("a", 0): Isolation.AUTO}, retiring=retiring)


def test_one_fresh_host_is_kept_ready() -> None:
    assert upkeep([], 0.0, RULES) == HostUpkeep(launch=1)
    assert upkeep([busy("h1"), HostView("h2", 0.0)], 0.0, RULES) == HostUpkeep()


def test_no_fresh_host_is_launched_when_every_slot_is_taken() -> None:
    assert upkeep([busy(f"h{i}") for i in range(4)], 0.0, RULES) == HostUpkeep()


def test_superfluous_fresh_hosts_end() -> None:
    assert upkeep([HostView("h1", 0.0), HostView("h2", 0.0)], 0.0, RULES) == HostUpkeep(end=("h2",))


def test_a_used_host_lingers_then_ends() -> None:
    hosts = [HostView("h1", 0.0, former="a", empty_since=10.0), HostView("h2", 0.0)]
    assert upkeep(hosts, 14.9, RULES) == HostUpkeep()
    assert upkeep(hosts, 15.0, RULES) == HostUpkeep(end=("h1",))


def test_old_hosts_are_left_one_at_a_time_the_oldest_first() -> None:
    hosts = [busy("h1", 5.0), busy("h2", 1.0), HostView("h3", 1000.0)]
    assert upkeep(hosts, 1900.0, RULES) == HostUpkeep(retire=("h2",))
    left = [busy("h1", 5.0), busy("h2", 1.0, retiring=True), HostView("h3", 1000.0)]
    assert upkeep(left, 1900.0, RULES) == HostUpkeep()


def test_a_retiring_host_ends_once_it_is_empty() -> None:
    hosts = [HostView("h1", 0.0, former="a", retiring=True, empty_since=9.0), HostView("h2", 0.0)]
    assert upkeep(hosts, 9.0, RULES) == HostUpkeep(end=("h1",))


def test_an_old_fresh_host_is_replaced() -> None:
    assert upkeep([HostView("h1", 0.0)], 1800.0, RULES) == HostUpkeep(end=("h1",), launch=1)


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
