"""Metrics: who is asked when somebody reads them; windows as Kafka's `SampledStat` and `Rate` have them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isnan

import pytest
from copycat_connect.errors import ConfigError
from copycat_telemetry.metrics.definitions import MetricsRegistry, Reading
from copycat_telemetry.metrics.groups import EVENT_LOG, STATUS_STORE
from copycat_telemetry.metrics.sampled import Sampled, Windows, WindowSettings


def source_of(*readings: Reading) -> Callable[[], tuple[Reading, ...]]:
    return lambda: readings


LEADS = Reading(EVENT_LOG, {}, {"leads": 1.0})
WRITTEN = Reading(STATUS_STORE, {}, {"status-update-success-total": 3})


def test_every_source_is_asked() -> None:
    registry = MetricsRegistry()

    with registry.reading_from(source_of(LEADS)), registry.reading_from(source_of(WRITTEN)):
        assert registry.read() == [LEADS, WRITTEN]


def test_a_source_is_asked_anew_at_every_reading() -> None:
    registry, starts = MetricsRegistry(), iter((1.0, 0.0))

    def source() -> Iterator[Reading]:
        yield Reading(EVENT_LOG, {}, {"leads": next(starts)})

    with registry.reading_from(source):
        assert [registry.read()[0].values["leads"] for _ in range(2)] == [1, 0]


@pytest.mark.row("KRETRY-24", "KRETRY-T03")
def test_a_source_is_told_only_while_it_is_registered() -> None:
    registry = MetricsRegistry()

    assert registry.read() == []
    with registry.reading_from(source_of(LEADS)):
        with registry.reading_from(source_of(WRITTEN)):
            pass
        assert registry.read() == [LEADS]
    assert registry.read() == []


def test_a_source_that_ends_with_an_error_is_told_no_longer() -> None:
    registry = MetricsRegistry()

    with pytest.raises(ValueError, match="broken"), registry.reading_from(source_of(LEADS)):
        raise ValueError("broken")

    assert registry.read() == []


START = 1000.0


def sampled(seconds: float = 30.0, count: int = 2) -> Sampled:
    return Sampled(Windows(seconds, count))


def note(into: Sampled, now: float, *values: float) -> None:
    into.note(now, len(values), sum(values), max(values), min(values))


def test_values_of_all_kept_windows_count() -> None:
    found = sampled()

    note(found, START, 1, 2)
    note(found, START + 31, 9)

    now = START + 40
    assert (found.count(now), found.total(now), found.mean(now)) == (3, 12, 4)
    assert (found.highest(now), found.lowest(now)) == (9, 1)


def test_where_nothing_was_noted_a_mean_and_the_extremes_are_no_number_and_all_else_is_0() -> None:
    found = sampled()

    assert isnan(found.mean(START))
    assert isnan(found.highest(START))
    assert isnan(found.lowest(START))
    assert (found.count(START), found.total(START), found.rate(START)) == (0, 0, 0)


def test_values_leave_once_all_windows_have_passed_since_the_last_of_their_window() -> None:
    found = sampled()
    note(found, START, 5)
    note(found, START + 10, 7)

    assert found.highest(START + 69.9) == 7
    assert isnan(found.highest(START + 70))
    assert found.rate(START + 70) == 0


def test_an_older_window_leaves_before_a_newer_one() -> None:
    found = sampled()
    note(found, START, 100)
    note(found, START + 45, 1)

    now = START + 60
    assert (found.count(now), found.highest(now), found.mean(now)) == (1, 1, 1)


def test_a_window_is_over_after_its_time_though_nothing_was_noted_meanwhile() -> None:
    found = sampled()
    note(found, START, 100)
    note(found, START + 30, 1)  # else its first window would last until START + 90

    assert found.highest(START + 60) == 1


def test_old_windows_do_not_pile_up_while_values_keep_coming() -> None:
    found = sampled()

    for second in range(600):
        note(found, START + second, 1)

    assert 60 <= found.count(START + 600) <= 90


def test_a_rate_takes_all_windows_but_one_as_full() -> None:
    found = sampled()
    note(found, START, 60)

    assert found.rate(START) == pytest.approx(60 / 30)
    assert found.rate(START + 15) == pytest.approx(60 / 45)


def test_a_rate_over_full_windows_counts_the_time_that_passed() -> None:
    found = sampled()
    note(found, START, 60)
    note(found, START + 30, 30)

    assert found.rate(START + 30) == pytest.approx(90 / 30)
    assert found.rate(START + 45) == pytest.approx(90 / 45)


def test_a_rate_counts_a_first_window_that_overlaps_what_is_sampled_from_its_beginning() -> None:
    found = sampled()
    note(found, START, 10)
    note(found, START + 29, 10)
    note(found, START + 30, 60)

    assert found.rate(START + 80) == pytest.approx(80 / 80)


def test_more_windows_make_a_young_rate_smaller() -> None:
    found = sampled(seconds=10, count=5)
    note(found, START, 45)

    assert found.rate(START + 5) == pytest.approx(45 / 45)


def test_a_rate_at_the_very_beginning_of_an_only_window_counts_that_window_as_full() -> None:
    found = sampled(seconds=10, count=1)
    note(found, START, 5)

    assert found.rate(START) == pytest.approx(0.5)


def test_windows_are_what_the_worker_is_told() -> None:
    assert WindowSettings.parse({}).windows == Windows(30.0, 2)
    told = {"metrics.sample.window.ms": "500", "metrics.num.samples": "4"}
    assert WindowSettings.parse(told).windows == Windows(0.5, 4)


@pytest.mark.parametrize("key", ["metrics.sample.window.ms", "metrics.num.samples"])
def test_windows_without_length_or_number_are_refused(key: str) -> None:
    with pytest.raises(ConfigError, match=key.replace(".", r"\.")):
        WindowSettings.parse({key: "0"})
