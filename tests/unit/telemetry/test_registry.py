"""Who is asked when somebody reads the metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from copycat_telemetry.metrics.definitions import Reading, Registry
from copycat_telemetry.metrics.groups import EVENT_LOG, STATUS_STORE


def source_of(*readings: Reading) -> Callable[[], tuple[Reading, ...]]:
    return lambda: readings


LEADS = Reading(EVENT_LOG, {}, {"leads": 1.0})
WRITTEN = Reading(STATUS_STORE, {}, {"status-update-success-total": 3})


def test_every_source_is_asked() -> None:
    registry = Registry()

    with registry.reading_from(source_of(LEADS)), registry.reading_from(source_of(WRITTEN)):
        assert registry.read() == [LEADS, WRITTEN]


def test_a_source_is_asked_anew_at_every_reading() -> None:
    registry, starts = Registry(), iter((1.0, 0.0))

    def source() -> Iterator[Reading]:
        yield Reading(EVENT_LOG, {}, {"leads": next(starts)})

    with registry.reading_from(source):
        assert [registry.read()[0].values["leads"] for _ in range(2)] == [1, 0]


@pytest.mark.row("KRETRY-24", "KRETRY-T03")
def test_a_source_is_told_only_while_it_is_registered() -> None:
    registry = Registry()

    assert registry.read() == []
    with registry.reading_from(source_of(LEADS)):
        with registry.reading_from(source_of(WRITTEN)):
            pass
        assert registry.read() == [LEADS]
    assert registry.read() == []


def test_a_source_that_ends_with_an_error_is_told_no_longer() -> None:
    registry = Registry()

    with pytest.raises(ValueError, match="broken"), registry.reading_from(source_of(LEADS)):
        raise ValueError("broken")

    assert registry.read() == []
