"""What the assignments topic is not."""

import pytest
from copycat_connect.cluster import Instance
from copycat_eventlog.log import Record
from copycat_eventlog.unreadable import decode
from copycat_scheduler.adapters.codec import SchedulerCodec
from copycat_scheduler.domain.events import Unassigned


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
