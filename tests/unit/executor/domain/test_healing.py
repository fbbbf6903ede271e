"""When a failed task is restarted without a hand; who is suspected of the deaths of what several shared."""

from __future__ import annotations

import pytest
from copycat_connect.config.healing import Healing, poll_timeout
from copycat_connect.errors import ConfigError
from copycat_connect.failure_kind import FailureKind
from copycat_executor.domain.deaths import MEMORY_SECONDS, Suspicions, parts
from copycat_executor.domain.healing import (
    HOUR_SECONDS,
    STEADY_SECONDS,
    Restarts,
    after_failure,
    tolerates,
)

PASSING = (FailureKind.TRANSIENT, FailureKind.RESOURCE)


def test_waits_double_and_are_bounded_and_run_for_ever_within_the_budget() -> None:
    restarts, now, waits = Restarts(), 0.0, list[float]()
    for _ in range(100):  # a system that is away for hours, without jitter: the most restarts there can be
        verdict = after_failure(restarts, Healing.of({}, {}), FailureKind.TRANSIENT, now, 0.0)
        assert verdict.wait is not None, verdict.text
        waits.append(verdict.wait)
        now += verdict.wait
        restarts = verdict.restarts
    assert waits[:10] == [1, 2, 4, 8, 16, 32, 64, 128, 180, 180]


def test_jitter_adds_up_to_half_of_the_wait() -> None:
    assert after_failure(Restarts(), Healing.of({}, {}), FailureKind.TRANSIENT, 0, 1.0).wait == 1.5


@pytest.mark.parametrize("kind", FailureKind)
def test_only_what_may_pass_is_restarted_unless_the_user_wants_all(kind: FailureKind) -> None:
    by_default = after_failure(Restarts(), Healing.of({}, {}), kind, 0, 0)
    assert (by_default.wait is not None) == (kind in PASSING)
    assert kind.value in by_default.text
    always = Healing.of({"errors.restart": "ALWAYS"}, {})
    assert after_failure(Restarts(), always, kind, 0, 0).wait == 1
    off = after_failure(Restarts(), Healing.of({"errors.restart": "off"}, {}), kind, 0, 0)
    assert (off.wait, off.text) == (None, "")


def test_a_task_that_ran_steadily_waits_no_longer_than_at_first() -> None:
    given = Healing.of({}, {})
    for ran, wait in ((STEADY_SECONDS - 1, 64), (STEADY_SECONDS, 1)):
        before = Restarts((), 6, running_since=100.0)
        assert after_failure(before, given, FailureKind.TRANSIENT, 100.0 + ran, 0).wait == wait


def test_the_budget_of_an_hour_keeps_the_task_failed_and_says_what_to_do() -> None:
    given = Healing.of({"errors.restart.max.per.hour": "2", "errors.restart.backoff.ms": "0"}, {})
    times = (10.0, 20.0)
    full = after_failure(Restarts(times, 2), given, FailureKind.TRANSIENT, HOUR_SECONDS + 9, 0)
    assert full.wait is None
    assert "2 restarts within an hour" in full.text
    assert "then restart what failed" in full.text
    later = after_failure(full.restarts, given, FailureKind.TRANSIENT, HOUR_SECONDS + 11, 0)
    assert later.wait == 0
    assert "restart 2 of at most 2" in later.text


def test_the_worker_says_what_holds_for_connectors_that_say_nothing() -> None:
    assert Healing.of({}, {"errors.restart": "off"}).mode.value == "off"
    assert Healing.of({"errors.restart": "always"}, {"errors.restart": "off"}).mode.value == "always"


def test_a_poll_may_take_an_hour_unless_the_connector_or_the_worker_says_otherwise() -> None:
    assert poll_timeout({}, {}) == 3600.0
    assert poll_timeout({}, {"task.poll.timeout.ms": "5000"}) == 5.0
    assert poll_timeout({"task.poll.timeout.ms": "0"}, {"task.poll.timeout.ms": "5000"}) == 0.0


@pytest.mark.parametrize(
    "config",
    [
        {"errors.restart": "sometimes"},
        {"errors.restart.max.per.hour": "0"},
        {"errors.restart.backoff.ms": "-1"},
        {"task.poll.timeout.ms": "-1"},
    ],
)
def test_values_that_cannot_be_are_refused_with_their_key(config: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=next(iter(config))):
        Healing.of(config, {})


def test_tolerance_is_advised_only_where_it_would_help() -> None:
    def text(*, helps: bool) -> str:
        poison, healing = FailureKind.POISON_RECORD, Healing.of({}, {})
        return after_failure(Restarts(), healing, poison, 0, 0, tolerance_helps=helps).text

    assert "errors.tolerance=all" in text(helps=True)
    assert "errors.tolerance" not in text(helps=False)
    assert "Mend the record" in text(helps=False)


@pytest.mark.parametrize(
    ("config", "does"),
    [
        ({}, False),
        ({"errors.tolerance": "all"}, False),
        ({"errors.tolerance": "all", "errors.log.enable": "true"}, True),
        ({"errors.tolerance": "all", "errors.deadletterqueue.topic.name": "d"}, True),
        ({"errors.tolerance": "none", "errors.deadletterqueue.topic.name": "d"}, False),
    ],
)
def test_a_connector_that_leaves_bad_records_out_is_not_told_to(config: dict[str, str], does: bool) -> None:
    assert tolerates(config) is does


NONE: Suspicions[str] = Suspicions()


def test_everybody_who_was_there_is_suspected_of_a_death() -> None:
    after = NONE.after("abc", 0.0)
    assert [after.count(each) for each in "abcd"] == [1, 1, 1, 0]


def test_who_goes_on_while_the_others_die_again_is_cleared() -> None:
    after = NONE.after("abc", 0.0).after("bc", 1.0)
    assert [after.count(each) for each in "abc"] == [0, 2, 2]


def test_who_dies_alone_clears_all_that_died_with_it() -> None:
    after = NONE.after("abc", 0.0).after("ab", 1.0).after("a", 2.0)
    assert [after.count(each) for each in "abc"] == [3, 0, 0]


def test_a_death_of_others_explains_nothing() -> None:
    after = NONE.after("ab", 0.0).after("cd", 1.0)
    assert [after.count(each) for each in "abcd"] == [1, 1, 1, 1]


def test_the_foremost_is_suspected_most() -> None:
    after = NONE.after("ab", 0.0).after("bc", 1.0)
    assert [after.foremost(each) for each in "abc"] == [False, True, False]
    assert NONE.foremost("a")


def test_a_death_is_forgotten_after_a_while() -> None:
    after = NONE.after("ab", 0.0).after("c", MEMORY_SECONDS)
    assert [after.count(each) for each in "abc"] == [0, 0, 1]


def test_a_death_is_forgotten_also_where_nobody_dies_any_more() -> None:
    after = NONE.after("ab", 0.0)
    assert after.recent(MEMORY_SECONDS - 1) == after
    assert after.recent(MEMORY_SECONDS) == NONE


def test_who_left_is_suspected_of_nothing() -> None:
    assert NONE.after("a", 0.0).without("a") == NONE


def test_suspects_are_divided_so_that_the_most_suspected_stand_apart() -> None:
    after = NONE.after("ab", 0.0).after("bc", 1.0)
    assert parts("abcd", after, 2) == [["b", "a"], ["c", "d"]]
    assert parts("abcd", after, 3) == [["b", "d"], ["c"], ["a"]]
    assert parts("a", after, 4) == [["a"]]
    assert parts("", after, 4) == []
