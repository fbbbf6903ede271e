"""Who is asked when somebody reads the metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from copycat_telemetry.metrics.registry import Reading, Registry
from copycat_telemetry.metrics.worker_groups import EVENT_LOG, STATUS_STORE


def telling(*readings: Reading) -> Callable[[], tuple[Reading, ...]]:
    return lambda: readings


LEADS = Reading(EVENT_LOG, {}, {"leads": 1.0})
WRITTEN = Reading(STATUS_STORE, {}, {"status-update-success-total": 3})


def test_every_source_is_asked() -> None:
    registry = Registry()

    with registry.telling(telling(LEADS)), registry.telling(telling(WRITTEN)):
        assert registry.read() == [LEADS, WRITTEN]


def test_a_source_is_asked_anew_at_every_reading() -> None:
    registry, starts = Registry(), iter((1.0, 0.0))

    def source() -> Iterator[Reading]:
        yield Reading(EVENT_LOG, {}, {"leads": next(starts)})

    with registry.telling(source):
        assert [registry.read()[0].values["leads"] for _ in range(2)] == [1, 0]


def test_a_source_is_told_only_while_it_is_registered() -> None:
    """KRETRY-24."""
    registry = Registry()

    assert registry.read() == []
    with registry.telling(telling(LEADS)):
        with registry.telling(telling(WRITTEN)):
            pass
        assert registry.read() == [LEADS]
    assert registry.read() == []


def test_a_source_that_ends_with_an_error_is_told_no_longer() -> None:
    registry = Registry()

    with pytest.raises(ValueError, match="broken"), registry.telling(telling(LEADS)):
        raise ValueError("broken")

    assert registry.read() == []
