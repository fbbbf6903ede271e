"""Records of one cluster in another, byte for byte, by a whole system."""

from __future__ import annotations

import pytest
from copycat_testkit.kafka import create_topic, unique

from tests.integration.mirror.pair import NOW, Pair, Record, consumed, write

pytestmark = pytest.mark.timeout(300)

PARTITIONS = 3


def odd_records(count: int) -> list[Record]:
    """Records with everything that must not change: no key, no value, no text, headers twice or empty."""
    headers = ((), (("a", b"1"), ("a", b"\xff\x00"), ("empty", b""), ("none", None)))
    keys = (None, b"", b"key", b"\x80\x81")
    return [
        (n % PARTITIONS, keys[n % 4], None if n % 7 == 0 else b"\xfe%d" % n, headers[n % 2], NOW + n * 3)
        for n in range(count)
    ]


@pytest.mark.row("K26-72")
def test_a_topic_is_copied_byte_for_byte(pair: Pair) -> None:
    topic, name = unique("bytes"), unique("mirror")
    create_topic(pair.source, topic, PARTITIONS)
    sent = odd_records(3000)
    write(pair.source, topic, sent)
    pair.put(name, pair.config("Source", "berlin", "paris", {"topics": topic, "tasks.max": "2"}))
    arrived = pair.arrives(f"berlin.{topic}", len(sent))
    assert arrived == consumed(pair.source, topic)
    assert arrived == sorted(sent, key=lambda record: record[0])
    pair.delete(name)
