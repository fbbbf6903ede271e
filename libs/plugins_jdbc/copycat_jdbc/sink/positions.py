"""Positions of exactly-once delivery: rows of a table, written in the transaction of the data.

A row of a partition names its owner, a number that a task makes up each time it begins. Whoever begins writes
its own number there; every later commit of a former owner looks for its number in the rows, locked until the
commit, and does not find it. A former owner may be frozen with a transaction open, and then holds locks that
others wait for: so every owner holds an advisory lock with its number, by which its connection is found and
cut.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping
from typing import Final

from copycat_connect.data import TopicPartition
from copycat_connect.errors import ConnectError, DataError

from copycat_jdbc.sink.session import DatabaseSession
from copycat_jdbc.sink.settings import POSITIONS_TABLE, JdbcSinkSettings
from copycat_jdbc.sink.tables import table_name

_NOBODY: Final = 0
_BITS: Final = 62


class StoredPositions:
    """The positions of one connector; a task owns those of its partitions."""

    def __init__(self, session: DatabaseSession, settings: JdbcSinkSettings) -> None:
        """Use the connection, and the table's name."""
        self._session = session
        self._settings = settings
        self._dialect = session.database.dialect
        self._owner = _NOBODY
        self._name = table_name(settings.exactly_once_table, session.database.address, POSITIONS_TABLE)
        self._table = session.database.quoted_table(self._name)

    def claim(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Become the owner of partitions, cut off former ones, and return the positions that are known.

        Raises:
            RetriableError: The database is away.
            ConnectError: The table cannot be read or made.
        """
        session, name = self._session, self._settings.connector
        session.close()
        self._owner = _NOBODY
        session.begin()
        self._make_table()
        owner = 1 + secrets.randbits(_BITS)
        self._hold(owner)
        for former in self._owners(partitions):
            self._cut(former)
        doing = "take the positions"
        for topic, partition in sorted(partitions):
            values = (name, topic, partition, owner)
            ignore = "IGNORE " if self._dialect != "postgresql" else ""
            conflict = " ON CONFLICT DO NOTHING" if self._dialect == "postgresql" else ""
            session.run(
                f"INSERT {ignore}INTO {self._table} (connector, topic, kafka_partition, owner) "
                f"VALUES (%s, %s, %s, %s){conflict}",
                values,
                doing=doing,
            )
            session.run(
                f"UPDATE {self._table} SET owner = %s WHERE connector = %s AND topic = %s "
                "AND kafka_partition = %s",
                (owner, name, topic, partition),
                doing=doing,
            )
        found = self._rows("owner = %s", (owner,))
        session.commit()
        self._owner = owner
        return {partition: position for partition, position in found.items() if position is not None}

    def hold(self) -> None:
        """Make a new connection known as this owner's."""
        self._hold(self._owner)

    def store(self, positions: Mapping[TopicPartition, int]) -> None:
        """Write positions into the open transaction.

        Raises:
            ConnectError: Another task owns one of the partitions now; the transaction must not be committed.
        """
        owned = self._rows("owner = %s FOR UPDATE", (self._owner,))
        lost = sorted(set(positions) - set(owned))
        if lost:
            topic, partition = lost[0]
            raise ConnectError(
                f"The positions of {topic}-{partition} in table {self._settings.exactly_once_table} belong "
                "to another task of this connector, or were changed by a user: this one writes nothing more"
            )
        for each, position in positions.items():
            if owned[each] != position:
                self._session.run(
                    f"UPDATE {self._table} SET position = %s WHERE connector = %s AND topic = %s "
                    "AND kafka_partition = %s",
                    (position, self._settings.connector, *each),
                    doing="store the positions",
                )

    def forget(self) -> None:
        """Forget what an exactly-once run of the connector stored: it ends where others begin to write.

        Raises:
            ConnectError: The database does not allow it, or is away.
        """
        session = self._session
        session.begin()
        if session.database.columns(self._name) is not None:
            mark = "?" if self._dialect == "sqlite" else "%s"
            values = (self._settings.connector,)
            session.run(
                f"DELETE FROM {self._table} WHERE connector = {mark}", values, doing="forget the positions"
            )
        session.commit()

    def move(self, positions: Mapping[TopicPartition, int | None]) -> None:
        """Change positions for a user; None forgets one, no positions at all forget all.

        Raises:
            ConnectError: They could not be changed.
        """
        session, name = self._session, self._settings.connector
        session.begin()
        self._make_table()
        doing = "change the positions"
        if not positions:
            session.run(f"DELETE FROM {self._table} WHERE connector = %s", (name,), doing=doing)
        for (topic, partition), position in positions.items():
            session.run(
                f"DELETE FROM {self._table} WHERE connector = %s AND topic = %s AND kafka_partition = %s",
                (name, topic, partition),
                doing=doing,
            )
            if position is not None:
                session.run(
                    f"INSERT INTO {self._table} (connector, topic, kafka_partition, position, owner) "
                    "VALUES (%s, %s, %s, %s, %s)",
                    (name, topic, partition, position, _NOBODY),
                    doing=doing,
                )
        session.commit()

    def _rows(self, where: str, values: tuple[object, ...]) -> dict[TopicPartition, int | None]:
        found = self._session.run(
            f"SELECT topic, kafka_partition, position FROM {self._table} WHERE connector = %s AND {where}",
            (self._settings.connector, *values),
            doing="read the positions",
        )
        return {
            TopicPartition(str(topic), int(partition)): None if position is None else int(position)
            for topic, partition, position in found
        }

    def _owners(self, partitions: Collection[TopicPartition]) -> set[int]:
        found = self._session.run(
            f"SELECT topic, kafka_partition, owner FROM {self._table} WHERE connector = %s",
            (self._settings.connector,),
            doing="read the positions",
        )
        wanted = {(topic, partition) for topic, partition in partitions}
        return {int(owner) for topic, partition, owner in found if (topic, int(partition)) in wanted} - {
            _NOBODY
        }

    def _hold(self, owner: int) -> None:
        if self._dialect == "postgresql":
            self._session.run("SELECT pg_advisory_lock(%s)", (owner,), doing="lock the positions")
        else:
            self._session.run("SELECT GET_LOCK(%s, 10)", (f"copycat-{owner}",), doing="lock the positions")

    def _cut(self, owner: int) -> None:
        doing = "cut off a former task"
        if self._dialect == "postgresql":
            self._session.run(
                "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' "
                "AND objsubid = 1 AND classid = %s AND objid = %s AND pid <> pg_backend_pid()",
                (owner >> 32, owner & 0xFFFFFFFF),
                doing=doing,
            )
            return
        for (holder,) in self._session.run("SELECT IS_USED_LOCK(%s)", (f"copycat-{owner}",), doing=doing):
            if holder is not None:
                self._session.run(f"KILL {int(holder)}", doing=doing)

    def _make_table(self) -> None:
        if self._dialect != "postgresql":
            self._create_table()
            return
        try:
            with self._session.savepoint():
                self._create_table()
        except DataError:
            # Of two tasks that make it at once PostgreSQL has one wait, and then fail: now it is there.
            self._create_table()

    def _create_table(self) -> None:
        texts = "TEXT" if self._dialect == "postgresql" else "VARCHAR(249) COLLATE utf8mb4_bin"
        self._session.run(
            f"CREATE TABLE IF NOT EXISTS {self._table} (connector {texts} NOT NULL, topic {texts} NOT NULL, "
            "kafka_partition INT NOT NULL, position BIGINT, owner BIGINT NOT NULL, "
            "PRIMARY KEY (connector, topic, kafka_partition))",
            doing=f"create table {self._settings.exactly_once_table} ({POSITIONS_TABLE})",
        )
