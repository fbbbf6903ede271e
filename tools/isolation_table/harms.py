"""The rows of the table: what is done, and what should become of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import psycopg
from copycat_testkit import faults
from copycat_testkit.eventually import wait
from copycat_testkit.postgres import SECRET, USER, running_postgres

from tools.isolation_table.measure import Harm
from tools.isolation_table.system import NEIGHBOURS, SMALL_DISK, Neighbourhood
from tools.isolation_table.verdicts import (
    BACKTRACKING,
    CULPRIT,
    DIGITS,
    LONG_NAME,
    VERDICT_SECONDS,
    compressed,
    create,
    deleted,
    each_can_be_deleted,
    each_fails,
    each_says,
    fails,
    from_another_page,
    hostile,
    hostile_sink,
    knocks,
    leaked,
    lines,
    mirror,
    printed_much,
    reasons,
    refused,
    remove,
    row,
    runs,
    says,
    smuggled,
    unreadable,
)

_DATABASE: Final = {
    "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
    "connection.user": USER,
    "connection.password": SECRET,
    "mode": "bulk",
    "tasks.max": "1",
    "table.poll.interval.ms": "1000",
    "connection.backoff.ms": "1000",
    "topic.prefix": f"{CULPRIT}-",
}
_NO_ROOM: Final = "No space left"


def nobody_listens(system: Neighbourhood) -> str:
    """Read a database where no server is."""
    url = "jdbc:postgresql://127.0.0.1:1/postgres"
    return says({**_DATABASE, "connection.url": url}, "No server answers", url)(system)


def two_schemas(system: Neighbourhood) -> str:
    """Read a table whose name is in two schemas."""
    with running_postgres() as server:
        with psycopg.connect(server.conninfo, autocommit=True) as database:
            for schema in ("one", "two"):
                database.execute(f"CREATE SCHEMA {schema}")
                database.execute(f"CREATE TABLE {schema}.twice (id int)")
        config = {**_DATABASE, "connection.url": server.url(), "table.whitelist": "twice"}
        return says(config, "Several tables have the same name", "one.twice", "two.twice")(system)


def misspelt(system: Neighbourhood) -> str:
    """Read a table that is not there."""
    with running_postgres() as server:
        config = {**_DATABASE, "connection.url": server.url(), "table.whitelist": "oders"}
        return says(config, "table.whitelist", "oders")(system)


def sinks_disk_is_full(system: Neighbourhood) -> str:
    """Fill the disk of a sink, and give it room again."""
    folder = _sinks_disk(system)
    assert faults.mount_disk(folder), "this user may not mount a disk: run it as root"
    lines = folder / "lines"
    sink = {"connector.class": "FileStreamSink", "tasks.max": "1", "topics": NEIGHBOURS[0]}
    create(system, {**sink, "file": str(lines)})
    wait(lambda: lines.exists() and lines.stat().st_size > 0, VERDICT_SECONDS, "the sink writes nothing")
    faults.fill_disk(folder)
    wait(lambda: _NO_ROOM in reasons(system.status(CULPRIT)), VERDICT_SECONDS, f"no status says {_NO_ROOM}")
    size = lines.stat().st_size
    assert faults.resize_disk(folder, faults.DISK_SIZE), "the disk does not grow"
    wait(lambda: lines.stat().st_size > size + 10_000, VERDICT_SECONDS, "the sink does not go on by itself")
    wait(lambda: runs(system, CULPRIT), VERDICT_SECONDS, "its status does not say that it runs")
    written = _whole(lines)
    return f"FAILED: {_NO_ROOM}; goes on once there is room; none of {written} lines is torn or missing"


def _sinks_disk(system: Neighbourhood) -> Path:
    return system.folder / "disk-of-a-sink"


def _whole(lines: Path) -> str:
    """See that a file has every number of a partition, each in a line of its own; says how many."""
    found = lines.read_bytes().split(b"\n")[:-1]  # what follows the last end of a line is being written
    torn = [each for each in found if not re.fullmatch(rb"[1-9][0-9]*", each)]
    assert not torn, f"torn lines: {torn[:3]}"
    numbers = {int(each) for each in found}
    missing = max(numbers) - len(numbers)
    assert not missing, f"{missing} numbers of {max(numbers)} are missing, or lines are glued"
    return "thousands of" if len(numbers) > 1000 else str(len(numbers))


def _take_the_disk_away(system: Neighbourhood) -> None:
    remove(system)
    faults.unmount_disk(_sinks_disk(system))


def kafkas_disk_is_full(system: Neighbourhood) -> str:
    """Fill the disk of the broker until a status says so, and give it room again."""
    folder, neighbour = system.folder / "kafka", NEIGHBOURS[0]
    faults.fill_disk(folder)
    try:
        wait(
            lambda: "no space is left" in reasons(system.status(neighbour)),
            VERDICT_SECONDS,
            "no status says that there is no space",
        )
        said = str(system.status(neighbour)["health"]["reason"])
    finally:
        assert faults.resize_disk(folder, SMALL_DISK), "the disk does not grow"
    system.broker.kill()  # it ends, or no longer uses its folder: whoever supervises it starts it anew
    system.broker.start()
    system.settle()
    return f"all go on once there is room and the broker runs again; a connector's health: {said}"


FULL_SINK: Final = Harm("B8", "the disk of a sink is full", sinks_disk_is_full, _take_the_disk_away)
FULL_KAFKA: Final = Harm(
    "B8", "the disk of Kafka is full", kafkas_disk_is_full, all_notice=True, small_disk=True
)


_SINK: Final = {"connector.class": "FileStreamSink", "tasks.max": "1", "file": "{folder}/sunk"}
_ROUTER: Final = {
    "transforms": "route",
    "transforms.route.type": "org.apache.kafka.connect.transforms.RegexRouter",
    "transforms.route.regex": BACKTRACKING,
    "transforms.route.replacement": "x",
}
_PREDICATE: Final = {
    "transforms": "insert",
    "transforms.insert.type": "org.apache.kafka.connect.transforms.InsertField$Value",
    "transforms.insert.topic.field": "topic",
    "transforms.insert.predicate": "named",
    "predicates": "named",
    "predicates.named.type": "org.apache.kafka.connect.transforms.predicates.TopicNameMatches",
    "predicates.named.pattern": BACKTRACKING,
}
#: What no `except Exception` catches, and an error that no log can take.
_ENDS: Final = (
    *("SystemExit", "KeyboardInterrupt", "CancelledError", "PanicException"),
    "an error that no UTF-8 can write",
)
_ABSENT_FILE: Final = "{folder}/absent.txt"
_NOBODY: Final = "127.0.0.1:1"


_STOPS_EVERYTHING: Final = (
    Harm(
        "A1",
        "a task number of 5,000 digits in connect-configs",
        unreadable("connect-configs", b"task-x-" + DIGITS.encode()),
    ),
    Harm("A1", "half a surrogate in connect-offsets", unreadable("connect-offsets", rb'["\ud800",{}]')),
    Harm(
        "A1",
        "a task number of 5,000 digits in connect-status",
        unreadable("connect-status", b"status-task-x-" + DIGITS.encode()),
    ),
    Harm("A1", "brackets 100,000 deep in connect-offsets", unreadable("connect-offsets", b"[" * 100_000)),
    Harm(
        "A1",
        "what is no message in connect-assignments",
        unreadable("connect-assignments", b"\xff\x00", b"\xff" * 100),
    ),
    *(
        Harm("A2", f"records compressed with {codec}", compressed(codec))
        for codec in ("gzip", "snappy", "lz4", "zstd")
    ),
    row("A3", "topics.regex that backtracks", fails({**_SINK, "topics.regex": BACKTRACKING}, BACKTRACKING)),
    row(
        "A3",
        "RegexRouter that backtracks",
        fails({**hostile("never", "hangs"), "topic": LONG_NAME, **_ROUTER}, BACKTRACKING),
    ),
    row(
        "A3",
        "TopicNameMatches that backtracks",
        fails({**hostile("never", "hangs"), "topic": LONG_NAME, **_PREDICATE}, BACKTRACKING),
    ),
    row(
        "A3",
        "a placeholder of 5,000 colons",
        says(hostile("never", "hangs", secret="${" + ":" * 5_000), "healthy"),
    ),
    row(
        "A3",
        "a secret from /dev/zero",
        refused(hostile("never", "hangs", **{"secret": "${file:/dev/zero:x}"}), "/dev/zero"),
    ),
    *(
        Harm("A4", f"{topic} is deleted", deleted(topic), loses=topic, all_notice=True)
        for topic in ("connect-configs", "connect-offsets", "connect-status")
    ),
    row(
        "A5",
        "a mirror whose topics backtrack",
        fails(
            mirror(**{"source.cluster.bootstrap.servers": "{bootstrap}", "topics": BACKTRACKING}),
            BACKTRACKING,
        ),
    ),
    row("A5", "start of a connector that ends its process", fails(hostile("connector.start", "exits"))),
    row(
        "A5",
        "taskConfigs that holds the interpreter",
        fails(hostile("connector.task_configs", "holds the interpreter")),
    ),
    row("A5", "poll that holds the interpreter", fails(hostile("poll", "holds the interpreter"))),
    row("A5", "poll that ends its process", fails(hostile("poll", "exits"))),
)
_LOOKS_HEALTHY: Final = (
    *(
        row("B6", f"each of five errors in {call}", each_fails(*(hostile(call, what) for what in _ENDS)))
        for call in ("poll", "start")
    ),
    # As in Kafka Connect it is tried again and again; its status and its health say so.
    row(
        "B6",
        "each of five errors in connector.task_configs",
        each_says(
            *(hostile("connector.task_configs", what) for what in _ENDS), words=("task_configs fails",)
        ),
    ),
    row("B6", "each of five errors in put", each_fails(*(hostile_sink("put", what) for what in _ENDS))),
    *(
        row(
            "B6",
            f"each of five errors in {call}",
            each_can_be_deleted(*(hostile(call, what) for what in _ENDS)),
        )
        for call in ("stop", "connector.stop")
    ),
    row("B6", "SystemExit in validation", refused(hostile("validate", "SystemExit"), "SystemExit")),
    row("B7", "a database that nobody listens at", nobody_listens),
    row("B7", "one table name in two schemas", two_schemas),
    row("B7", "a misspelt table", misspelt),
    row("B7", "a file that is not there", says(lines(_ABSENT_FILE), "absent.txt")),
    row(
        "B7",
        "a folder that is not there",
        says(
            {
                "connector.class": "copycat_plugins.connectors.log_source.connector.LogSourceConnector",
                "files": "{folder}/absent/*.log",
                "topic": CULPRIT,
                "tasks.max": "1",
            },
            "absent",
        ),
    ),
    row(
        "B7",
        "a mirror whose source does not answer",
        says(mirror(**{"source.cluster.bootstrap.servers": _NOBODY}), _NOBODY),
    ),
    row("B8", "poll that hangs", fails(hostile("poll", "hangs", **{"task.poll.timeout.ms": "5000"}), "poll")),
    row("B8", "put that hangs", fails(hostile_sink("put", "hangs"), "put")),
    row("B8", "start of a connector that hangs", fails(hostile("connector.start", "hangs"), "start")),
    row("B8", "taskConfigs that hangs", fails(hostile("connector.task_configs", "hangs"), "task configs")),
    FULL_SINK,
)
_DOOR: Final = (
    Harm("C9", "a page of another origin", from_another_page({"Origin": "http://evil.example"})),
    Harm("C9", "a page of another site", from_another_page({"Sec-Fetch-Site": "cross-site"})),
    Harm("C9", "a page that rebound its name", from_another_page({"Host": "evil.example"})),
    Harm("C9", "a request with two lengths", smuggled),
    row("C10", "a task that says its secret in every way", leaked("poll")),
    row("C10", "a connector that says its secret in every way", leaked("connector.task_configs")),
    Harm("C11", "300 connections to every port of ours", knocks),
    Harm(
        "C11",
        "tasks.max of 5,000 digits",
        refused({**hostile("never", "hangs"), "tasks.max": DIGITS}, "tasks.max"),
    ),
    Harm("C11", "a name of two dots", refused(hostile("never", "hangs"), name="..")),
    Harm("C11", "a name with NUL", refused(hostile("never", "hangs"), name="a\0b")),
    Harm("C11", "a topic that leads out of a folder", refused({**_SINK, "topics": "../../x y"}, "topics")),
    row("C11", "300 MB that a task prints", printed_much),
)
HARMS: Final = (*_STOPS_EVERYTHING, *_LOOKS_HEALTHY, *_DOOR, FULL_KAFKA)
"""All of them, in the order of the table; last the one that wants a system of its own."""
