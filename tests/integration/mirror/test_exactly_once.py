"""A mirror whose task hosts are killed repeats no record and loses none."""

from __future__ import annotations

import pytest
from copycat_testkit.kafka import create_topic, unique, wait_until

from tests.integration.mirror.pair import NOW, SECONDS, Pair, Record, consumed, write

pytestmark = [pytest.mark.timeout(400), pytest.mark.long]

KILLS = 2
ROWS = 6_000
"""Records written before each kill, and after the last."""
PARTITIONS = 2


def rows(first: int) -> list[Record]:
    return [(n % PARTITIONS, b"%d" % n, b"value %d" % n, (), NOW + n) for n in range(first, first + ROWS)]


@pytest.mark.row("K26-72")
def test_records_are_mirrored_exactly_once_though_hosts_are_killed(pair: Pair) -> None:
    topic, name = unique("exact"), unique("mirror")
    create_topic(pair.source, topic, PARTITIONS)
    exact = {
        "topics": topic,
        "delivery.guarantee": "exactly_once",
        "source.consumer.isolation.level": "read_committed",
        "source.consumer.max.poll.records": "100",
    }
    sent, struck = rows(0), 0
    write(pair.source, topic, sent)
    pair.put(name, pair.config("Source", "berlin", "paris", exact))
    pair.runs(name)
    for kill in range(KILLS):
        wait_until(
            lambda: len(consumed(pair.target, f"berlin.{topic}")) > kill * ROWS,  # noqa: B023
            SECONDS,
            "the first of the new records",
        )
        pair.system.kill("host")
        struck += len(consumed(pair.target, f"berlin.{topic}")) < len(sent)
        write(pair.source, topic, rows((kill + 1) * ROWS))
        sent += rows((kill + 1) * ROWS)
        pair.runs(name)
    arrived = pair.arrives(f"berlin.{topic}", len(sent))
    pair.delete(name)
    assert arrived == sorted(sent, key=lambda record: record[0])
    assert struck, "no kill came while records flowed"
