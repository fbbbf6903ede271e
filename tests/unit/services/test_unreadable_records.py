"""Every event-sourced service treats records it cannot read alike: said, counted, never their value."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from copycat_config.adapters.codec import ConfigCodec
from copycat_config.domain.events import TasksFenced
from copycat_eventlog.log import Codec, Entry, Record
from copycat_eventlog.unreadable import MAX_BYTES, RecordReader, decode
from copycat_offset.adapters.codec import OffsetCodec
from copycat_scheduler.adapters.codec import SchedulerCodec
from copycat_status.adapters.codec import StatusCodec

SECRET = b'{"properties":["hunter2"],"state":"hunter2"'
NINES = "9" * 5000


def read(codec: Codec[Any], record: Record, offset: int = 7) -> tuple[Any, RecordReader[Any]]:
    reader = RecordReader(codec, "the-topic")
    event, _ = reader.step(lambda state, _: state, None, Entry(3, offset, record))
    return event, reader


@pytest.mark.parametrize(
    ("codec", "key"),
    [
        (ConfigCodec(), b"connector-orders"),
        (ConfigCodec(), b"foreign"),
        (ConfigCodec(), b"\xff"),
        (ConfigCodec(), f"task-x-{NINES}".encode()),
        (OffsetCodec(), b'["orders", {}]'),
        (OffsetCodec(), b"\xff"),
        (OffsetCodec(), rb'["\ud800",{}]'),
        (OffsetCodec(), rb'["orders",{"file":"\udfff"}]'),
        (OffsetCodec(), f'["orders",{{"at":{NINES}}}]'.encode()),
        (StatusCodec(), b"status-task-orders-0"),
        (StatusCodec(), f"status-task-orders-{NINES}".encode()),
        (StatusCodec(), b"foreign"),
        (StatusCodec(), b"\xff"),
        (SchedulerCodec(), b'["orders",-1]'),
        (SchedulerCodec(), f'["orders",{2**31}]'.encode()),
        (SchedulerCodec(), rb'["\ud800"]'),
        (SchedulerCodec(), b"\xff"),
    ],
)
def test_a_record_that_cannot_be_read_is_one_warning_with_its_place_and_key(
    codec: Codec[Any], key: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    event, reader = read(codec, Record(key, SECRET))

    assert event is None
    (line,) = caplog.records
    about: dict[str, Any] = line.__dict__["fields"]
    assert (line.levelno, line.getMessage()) == (logging.WARNING, "record ignored")
    assert (about["topic"], about["partition"], about["offset"]) == ("the-topic", 3, 7)
    assert about["key"] == repr(key)[:300]
    assert about["why"]
    assert "hunter2" not in str(about)
    assert reader.unreadable.records == 1
    assert reader.unreadable.last == "topic the-topic, partition 3, offset 7"


@pytest.mark.parametrize(
    ("codec", "key"), [(OffsetCodec(), b'["orders",{}]'), (SchedulerCodec(), b'["orders",0]')]
)
def test_a_value_that_cannot_be_read_forgets_its_key_and_is_one_error(
    codec: Codec[Any], key: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    event, reader = read(codec, Record(key, SECRET))

    assert codec.encode(event) == Record(key, None)
    (line,) = caplog.records
    about: dict[str, Any] = line.__dict__["fields"]
    assert (line.levelno, line.getMessage()) == (logging.ERROR, "record taken for a tombstone")
    assert (about["topic"], about["partition"], about["offset"]) == ("the-topic", 3, 7)
    assert "hunter2" not in str(about)
    assert reader.unreadable.records == 1


@pytest.mark.parametrize(
    ("codec", "key", "value"),
    [
        (SchedulerCodec(), '["a",0]', f'{{"worker":"w","generation":{2**63},"partitions":[]}}'),
        (SchedulerCodec(), '["a",0]', f'{{"worker":"w","generation":{2**62 + 1},"partitions":[]}}'),
        (SchedulerCodec(), '["a",0]', f'{{"worker":"w","generation":1,"partitions":[["t",{2**31}]]}}'),
        (SchedulerCodec(), '["a",0]', '{"worker":"\\ud800","generation":1,"partitions":[]}'),
        (StatusCodec(), "status-task-a-0", f'{{"state":"RUNNING","worker_id":"w","generation":{2**63 - 1}}}'),
        (StatusCodec(), "status-task-a-0", '{"state":"RUNNING","worker_id":"\\udead","generation":1}'),
        (ConfigCodec(), "tasks-fencing-a", f'{{"task-count":{2**31 - 1}}}'),
        (OffsetCodec(), '["a",{"f":1}]', '{"at":1e999}'),
        (OffsetCodec(), '["a",{"f":1}]', '{"at":NaN}'),
        (OffsetCodec(), '["a",{"f":1}]', '{"at":%s}' % ("[" * 100 + "]" * 100)),
    ],
)
def test_what_could_not_be_told_or_followed_is_not_read(codec: Codec[Any], key: str, value: str) -> None:
    """A message has 64 bits and UTF-8; a generation has a next one; a round of fencing has an end."""
    found = decode(codec, Record(key.encode(), value.encode()))

    assert found.why
    assert found.event is None or codec.encode(found.event).value is None


def test_the_largest_round_of_fencing_is_read() -> None:
    assert decode(ConfigCodec(), Record(b"tasks-fencing-a", b'{"task-count":100000}')).event == TasksFenced(
        "a", 100_000
    )


@pytest.mark.parametrize("codec", [ConfigCodec(), StatusCodec(), OffsetCodec(), SchedulerCodec()])
def test_a_record_too_large_to_be_told_is_not_read(codec: Codec[Any]) -> None:
    assert "bytes" in decode(codec, Record(b"connector-a", b" " * MAX_BYTES)).why
