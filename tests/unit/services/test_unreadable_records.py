"""Every event-sourced service treats records it cannot read alike: one line of one form, never the value."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from copycat_config.adapters.codec import ConfigCodec
from copycat_eventlog.log import Codec, Record
from copycat_offset.adapters.codec import OffsetCodec
from copycat_scheduler.adapters.codec import SchedulerCodec
from copycat_status.adapters.codec import StatusCodec

SECRET = b'{"properties":["hunter2"],"state":"hunter2"'


@pytest.mark.parametrize(
    ("codec", "key", "topic"),
    [
        (ConfigCodec(), b"connector-orders", "config"),
        (ConfigCodec(), b"foreign", "config"),
        (ConfigCodec(), b"\xff", "config"),
        (OffsetCodec(), b'["orders", {}]', "offset"),
        (OffsetCodec(), b"\xff", "offset"),
        (StatusCodec(), b"status-task-orders-0", "status"),
        (StatusCodec(), b"foreign", "status"),
        (StatusCodec(), b"\xff", "status"),
        (SchedulerCodec(), b'["orders",-1]', "assignment"),
        (SchedulerCodec(), b"\xff", "assignment"),
    ],
)
def test_a_record_that_cannot_be_read_is_one_warning_with_its_topic_and_key(
    codec: Codec[Any], key: bytes, topic: str, caplog: pytest.LogCaptureFixture
) -> None:
    event = codec.decode(Record(key, SECRET))

    assert event is None
    (line,) = caplog.records
    about: dict[str, str] = line.__dict__["fields"]
    assert (line.levelno, line.getMessage()) == (logging.WARNING, "record ignored")
    assert (about["topic"], about["key"]) == (topic, repr(key))
    assert about["why"]
    assert "hunter2" not in str(about)


@pytest.mark.parametrize(
    ("codec", "key", "topic"),
    [(OffsetCodec(), b'["orders",{}]', "offset"), (SchedulerCodec(), b'["orders",0]', "assignment")],
)
def test_a_value_that_cannot_be_read_forgets_its_key_and_is_one_error(
    codec: Codec[Any], key: bytes, topic: str, caplog: pytest.LogCaptureFixture
) -> None:
    event = codec.decode(Record(key, SECRET))

    assert codec.encode(event) == Record(key, None)
    (line,) = caplog.records
    about: dict[str, str] = line.__dict__["fields"]
    assert (line.levelno, line.getMessage()) == (logging.ERROR, "record taken for a tombstone")
    assert (about["topic"], about["key"]) == (topic, repr(key))
    assert "hunter2" not in str(about)
