"""Harms whose culprit needs something of its own beside it: a database, a disk."""

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
from tools.isolation_table.verdicts import CULPRIT, VERDICT_SECONDS, create, reasons, remove, runs, says

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
