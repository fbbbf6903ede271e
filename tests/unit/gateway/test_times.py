"""Times and durations as users write them.

Reads ask for no less than the gateway's own writes.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from copycat.types.v1 import types_pb2
from copycat_gateway.clients import WrittenRevisions
from copycat_gateway.errors import BadRequestError
from copycat_gateway.moments import duration, instant


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("2h", timedelta(hours=2)),
        ("90m", timedelta(minutes=90)),
        ("1d12h", timedelta(hours=36)),
        ("1w2d3h4m5s", timedelta(weeks=1, days=2, hours=3, minutes=4, seconds=5)),
        (" 45S ", timedelta(seconds=45)),
        ("PT2H", timedelta(hours=2)),
        ("P1DT12H", timedelta(hours=36)),
        ("p2w", timedelta(weeks=2)),
        ("PT90M", timedelta(minutes=90)),
    ],
)
def test_a_duration_is_read_in_both_forms(text: str, length: timedelta) -> None:
    assert duration(text) == length


@pytest.mark.parametrize(
    "text", ["", "2", "h", "-2h", "2 h", "12h1d", "1.5h", "0s", "PT", "P", "P1H", "2y", "٢h"]
)
def test_what_is_no_duration_is_refused_with_examples(text: str) -> None:
    with pytest.raises(BadRequestError, match=r"no duration above zero: write .* as in 2h, 90m"):
        duration(text)


@pytest.mark.parametrize(
    "text", ["36501d", "9" * 30 + "h", "P999999999W", "9" * 5_000 + "h", "0d" + "9" * 5_000 + "s"]
)
def test_a_duration_has_an_end(text: str) -> None:
    with pytest.raises(BadRequestError, match="longer than a hundred years"):
        duration(text)


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-11-20T10:00Z", datetime(2026, 11, 20, 10, tzinfo=UTC)),
        ("2026-11-20T10:00:00.250Z", datetime(2026, 11, 20, 10, microsecond=250_000, tzinfo=UTC)),
        ("2026-11-20 10:00Z", datetime(2026, 11, 20, 10, tzinfo=UTC)),
        ("2026-11-20T11:30+01:30", datetime(2026, 11, 20, 11, 30, tzinfo=timezone(timedelta(minutes=90)))),
    ],
)
def test_a_point_in_time_is_read(text: str, time: datetime) -> None:
    assert instant(text) == time


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("2026-11-20T10:00", "does not say in which zone: append Z"),
        ("2026-11-20", "does not say in which zone: append Z"),
        ("2026-11-20T10:00 01:00", "write the \\+ before a zone as %2B"),
        ("yesterday", "by ISO 8601, as in 2026-11-20T10:00Z"),
        ("2026-13-20T10:00Z", "by ISO 8601"),
        ("", "by ISO 8601"),
    ],
)
def test_what_is_no_point_in_time_is_refused_with_the_fix(text: str, fix: str) -> None:
    with pytest.raises(BadRequestError, match=fix):
        instant(text)


@pytest.mark.timeout(60)
def test_a_long_text_is_refused_at_once() -> None:
    with pytest.raises(BadRequestError):
        instant("T" * 1_000_000)


def test_the_floor_is_the_newest_write_of_each_partition() -> None:
    written = WrittenRevisions(instances=2)

    for revision in ({0: 5}, {0: 3, 1: 2}, {1: 1}):
        written.note(types_pb2.Revision(next=revision))

    assert dict(written.floor().next) == {0: 5, 1: 2}


def test_a_single_instance_is_asked_for_nothing() -> None:
    written = WrittenRevisions(instances=1)

    written.note(types_pb2.Revision(next={0: 5}))

    assert dict(written.floor().next) == {}
