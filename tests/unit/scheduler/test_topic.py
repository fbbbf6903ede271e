"""The assignments topic: what it is not, and what the scheduler reads from the worker properties."""

from __future__ import annotations

import pytest
from copycat_connect.cluster import Instance
from copycat_connect.errors import ConfigError
from copycat_eventlog.log import Record
from copycat_eventlog.settings import Backend
from copycat_eventlog.unreadable import decode
from copycat_scheduler.adapters.codec import SchedulerCodec
from copycat_scheduler.domain.events import Unassigned
from copycat_scheduler.settings import read_settings


@pytest.mark.parametrize(
    "key", [b"", b"orders", b'{"a":1}', b"[]", b"[1]", b'["a","b"]', b'["a",-1]', b'["a",true]', b"\xff"]
)
def test_a_key_that_is_no_instance_is_ignored(key: bytes) -> None:
    found = decode(SchedulerCodec(), Record(key, None))
    assert (found.event, bool(found.why)) == (None, True)


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"[]",
        b'{"worker":"w","generation":1}',
        b'{"worker":1,"generation":1,"partitions":[]}',
        b'{"worker":"w","generation":"1","partitions":[]}',
        b'{"worker":"w","generation":1,"partitions":[["t"]]}',
    ],
)
def test_an_assignment_that_cannot_be_read_counts_as_none(value: bytes) -> None:
    assert decode(SchedulerCodec(), Record(b'["a",0]', value)).event == Unassigned(Instance("a", 0))


def test_the_assignments_topic_is_named_after_the_cluster_unless_it_is_set() -> None:
    assert read_settings({"group.id": "g"}).log.topic == "g-assignments"
    assert read_settings({"group.id": "g", "assignment.storage.topic": "a"}).log.topic == "a"


def test_defaults() -> None:
    settings = read_settings({"group.id": "g"})
    assert settings.listen == "127.0.0.1:9104"
    assert (settings.lease_ms, settings.delay_ms, settings.refresh_ms) == (10_000, 0, 3000)
    assert (settings.config_addresses, settings.status_addresses) == (
        ("127.0.0.1:9101",),
        ("127.0.0.1:9103",),
    )
    assert settings.log.single_partition


def test_the_topic_always_is_compact_and_of_one_partition() -> None:
    more = {
        "assignment.storage.cleanup.policy": "delete",
        "assignment.storage.partitions": "9",
        "assignment.storage.segment.ms": "1000",
    }
    log = read_settings({"group.id": "g", **more}).log
    assert (log.partitions, log.topic_configs) == (1, {"segment.ms": "1000"})


def test_a_standalone_worker_needs_no_topic() -> None:
    assert read_settings({"storage.backend": "memory"}).log.backend is Backend.MEMORY


@pytest.mark.parametrize(
    ("key", "value"), [("worker.lease.ms", "1"), ("scheduled.rebalance.max.delay.ms", "-1"), ("group.id", "")]
)
def test_a_wrong_value_names_its_key(key: str, value: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read_settings({"group.id": "g", key: value})
    assert key in refused.value.message
