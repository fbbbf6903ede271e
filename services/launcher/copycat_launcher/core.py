"""The services a cluster has once, run by one of the copies that share an application id.

A log of one record says where they are: its owner runs them, all others read it. Who owns it is elected,
fenced and handed over as for every log (`copycat_eventlog`), and each service's own fence makes a mistake
harmless (I3).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from copycat_connect.config import ConfigDef
from copycat_connect.errors import CopycatError, NotWriterError
from copycat_connect.first import first
from copycat_eventlog.json_text import MalformedError, read_object
from copycat_eventlog.log import Entry, Log, Record, Revision
from copycat_eventlog.open import open_log
from copycat_eventlog.settings import Backend, LogSettings
from copycat_eventlog.worker_properties import LOST_TOPICS, TOPIC_CREATION

from copycat_launcher.in_process import KeptRole, serve_of, stop_all
from copycat_launcher.polling import until
from copycat_launcher.roles import SERVICES, ServiceRole

CORE = ServiceRole("core", 1)
WHERE = b"services"
SECURITY = ("security.", "sasl.", "ssl.")
ELECTION_SECONDS = 20.0

Found = Callable[[Mapping[str, str]], None]


class Core:
    """This copy's part in the election, and the services while it is elected."""

    def __init__(self, addresses: Mapping[str, str], found: Found) -> None:
        """Prepare.

        Args:
            addresses: Where this copy's services would answer, by role.
            found: Called with where the services answer, by role, whenever that changes.
        """
        self._addresses = dict(addresses)
        self._found = found
        self._known = False

    async def serve(
        self, properties: Mapping[str, str], stop: asyncio.Event, ready: Callable[[str], None]
    ) -> None:
        """Be a member until `stop`; calls `ready` once the services are known to answer somewhere.

        Raises:
            CopycatError: The log cannot be read, or went away.
        """
        where = open_log(services_log(properties))
        try:
            await where.start(self._fold)
            work = await first(
                self._take_part(where, properties, lambda: ready("")),
                _crash(where),
                _lost(where),
                stop.wait(),
            )
            for task in work:
                if not task.cancelled():
                    task.result()
        finally:
            await where.stop()

    async def _take_part(self, where: Log, properties: Mapping[str, str], ready: Callable[[], None]) -> None:
        try:
            await where.lead(ELECTION_SECONDS)
        except NotWriterError:  # another copy runs the services, or will in a moment
            await until(partial(self._leads_or_knows, where))
            if not where.leads:
                ready()
        while True:
            await until(partial(_leads, where, True))
            await self._serve_services(where, properties, ready)

    async def _leads_or_knows(self, where: Log) -> bool:
        return where.leads or self._known

    async def _serve_services(
        self, where: Log, properties: Mapping[str, str], ready: Callable[[], None]
    ) -> None:
        services = [KeptRole(role, serve_of(role), self._told(properties, role)) for role in SERVICES]
        try:
            await asyncio.gather(*(service.ready() for service in services))
            await where.append([Record(WHERE, json.dumps(self._addresses).encode())])
            ready()
            await until(partial(_leads, where, False))
        finally:
            await stop_all(services)

    def _told(self, properties: Mapping[str, str], role: ServiceRole) -> dict[str, str]:
        return {**properties, role.listen_key: self._addresses[role.name]}

    def _fold(self, entries: Sequence[Entry], _: Revision) -> None:
        for entry in entries:
            if entry.record.key == WHERE and (addresses := addresses_in(entry.record)) is not None:
                self._found(addresses)
                self._known = True


def addresses_in(record: Record) -> Mapping[str, str] | None:
    """Return what a record says; None for one that another program wrote."""
    try:
        found = read_object(record.value or b"")
    except MalformedError:
        return None
    addresses = {role: address for role, address in found.items() if isinstance(address, str)}
    return addresses if addresses.keys() >= {role.name for role in SERVICES} else None


async def _leads(where: Log, wanted: bool) -> bool:
    return where.leads is wanted


async def _crash(where: Log) -> None:
    error = await where.crashed()
    raise CopycatError(
        f"The log of where the services are failed ({type(error).__name__}: {error})"
    ) from error


async def _lost(where: Log) -> None:
    """Fail once nobody can lead any more: what starts this again makes the topic anew."""
    raise await where.lost()


def services_log(properties: Mapping[str, str]) -> LogSettings:
    """Return the settings of the log that says where the services answer.

    Raises:
        ConfigError: A property is wrong; the text names it.
    """
    group = properties["group.id"]
    topic = f"{group}-services"
    found = ConfigDef(LOST_TOPICS, TOPIC_CREATION).parse(properties)
    return LogSettings(
        backend=Backend.KAFKA,
        bootstrap_servers=properties["bootstrap.servers"],
        topic=topic,
        replication_factor=-1,
        owner_id=f"connect-cluster-{group}-services",
        setting="group.id",
        purpose="the addresses of the services",
        loss="where the services answer, which is then told anew",
        loss_accepted=topic in found[LOST_TOPICS.name],
        creates_topics=found[TOPIC_CREATION.name],
        single_partition=True,
        client_config={key: value for key, value in properties.items() if key.startswith(SECURITY)},
    )
