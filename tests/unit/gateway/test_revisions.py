"""Reads ask for no less than the gateway's own writes."""

from __future__ import annotations

from copycat.types.v1 import types_pb2
from copycat_gateway.clients import Written


def test_the_floor_is_the_newest_write_of_each_partition() -> None:
    written = Written(instances=2)

    for revision in ({0: 5}, {0: 3, 1: 2}, {1: 1}):
        written.note(types_pb2.Revision(next=revision))

    assert dict(written.floor().next) == {0: 5, 1: 2}


def test_a_single_instance_is_asked_for_nothing() -> None:
    written = Written(instances=1)

    written.note(types_pb2.Revision(next={0: 5}))

    assert dict(written.floor().next) == {}
