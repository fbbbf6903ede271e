"""A consumer that waits for something does not come back before it is due."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer
from copycat_executor.kafka.consumer import at_least
from hypothesis import given
from hypothesis import strategies as st


@pytest.fixture
def consumer() -> Iterator[Consumer]:
    alone = Consumer({"bootstrap.servers": "127.0.0.1:1", "group.id": "nobody", "log_level": 0})
    yield alone
    alone.close()


@given(st.just(0.0) | st.floats(min_value=1e-6, max_value=3600))
def test_the_whole_milliseconds_of_a_time_out_are_enough_and_less_than_one_too_many(seconds: float) -> None:
    assert seconds * 1000 <= int(at_least(seconds) * 1000) < seconds * 1000 + 1


@pytest.mark.parametrize("seconds", [0.0004, 0.0107])
def test_the_client_waits_that_long(consumer: Consumer, seconds: float) -> None:
    began = time.monotonic()
    assert consumer.consume(1, at_least(seconds)) == []
    assert time.monotonic() - began >= seconds
