"""A cluster as production runs it: every role in a process of its own, as many instances of each as wanted.

Nobody starts again what ends; a test, or a measurement, does that itself or goes without.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final

from copycat_embedded.ports import LOOPBACK, free_ports
from copycat_eventlog.electorate import read_electorate
from copycat_eventlog.owner import owner_group, owner_topic

from copycat_testkit.commands import Commands
from copycat_testkit.kafka import unique, wait_until
from copycat_testkit.member import RoleMember

#: What names the one writer of each event-sourced role, by the group of the cluster.
OWNERS: Final = {
    "config": "connect-cluster-{group}",
    "offset": "connect-cluster-{group}-offsets",
    "status": "copycat-status-{group}",
    "scheduler": "connect-cluster-{group}-assignments",
}
ROLES: Final = (*OWNERS, "executor", "gateway")
STRING: Final = "org.apache.kafka.connect.storage.StringConverter"
LEADER_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class LogOwner:
    """The process that may write a log."""

    machine: str
    """Names its machine and process namespace, as `copycat_eventlog.identity` does."""
    pid: int
    """Its id there."""


def owner_of(role: str, group: str, bootstrap: str) -> LogOwner | None:
    """Return who the brokers say may write the log of a role; None while that is being decided."""
    name = OWNERS[role].format(group=group)
    client = {"bootstrap_servers": bootstrap}
    electorate = asyncio.run(read_electorate(client, owner_group(name), owner_topic(name)))
    if electorate.owner is None:
        return None
    # An instance's name in the group ends with its machine, its process id and a number drawn by lot.
    *_, machine, pid, _ = electorate.owner.split(".")
    return LogOwner(machine, int(pid))


class Cluster:
    """Two instances of each role by default, on brokers that are there."""

    def __init__(
        self,
        folder: Path,
        bootstrap: str,
        instances: Mapping[str, int] | None = None,
        properties: Mapping[str, str] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Nothing starts yet.

        Args:
            folder: For properties files and output.
            bootstrap: The brokers.
            instances: How many of a role there are.
            properties: Worker properties of all roles, beyond what is needed to meet.
            environment: Added to ours: a PYTHONPATH there may bring plugins.
        """
        self.group = unique("cluster")
        self.secret = secrets.token_hex(32)
        """What its services ask of a gRPC client."""
        self._bootstrap = bootstrap
        folder.mkdir(parents=True, exist_ok=True)
        self._commands = Commands(folder, environment)
        counts = dict.fromkeys(ROLES, 2) | dict(instances or {})
        ports = iter(free_ports(sum(counts.values())))
        self._addresses = {
            role: [f"{LOOPBACK}:{next(ports)}" for _ in range(count)] for role, count in counts.items()
        }
        shared = {**self._shared(), **(properties or {})}
        self.members: Mapping[str, list[RoleMember]] = {
            role: [RoleMember(role, address, shared, self._commands) for address in addresses]
            for role, addresses in self._addresses.items()
        }
        """The instances of each role."""

    def start(self) -> Cluster:
        """Start everything and wait until all of it serves."""
        everybody = [member for role in ROLES for member in self.members[role]]
        for member in everybody:
            member.start()
        for member in everybody:
            member.wait_serving()
        return self

    def stop(self) -> None:
        """End every process of the cluster by force."""
        self._commands.close()

    def addresses(self, role: str) -> list[str]:
        """Return where a role is found."""
        return list(self._addresses[role])

    def urls(self) -> list[str]:
        """Return the roots of the REST interfaces."""
        return [f"http://{address}" for address in self._addresses["gateway"]]

    def leader(self, role: str) -> RoleMember:
        """Return the instance that the brokers say may write, waiting for a living one."""
        return wait_until(lambda: self._leader(role), LEADER_SECONDS, f"a leader of {role}")

    def standby(self, role: str) -> RoleMember:
        """Return an instance that may not write."""
        leader = self.leader(role)
        return next(member for member in self.members[role] if member is not leader)

    def __enter__(self) -> Cluster:
        """Start."""
        try:
            return self.start()
        except BaseException:
            self.stop()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        self.stop()

    def _leader(self, role: str) -> RoleMember | None:
        owner = owner_of(role, self.group, self._bootstrap)
        if owner is None:
            return None
        return next((each for each in self.members[role] if each.runs and each.pid == owner.pid), None)

    def _shared(self) -> dict[str, str]:
        stored = {"config": "configs", "offset": "offsets", "status": "status", "assignment": "assignments"}
        return {
            "bootstrap.servers": self._bootstrap,
            "group.id": self.group,
            "cluster.secret": self.secret,
            "key.converter": STRING,
            "value.converter": STRING,
            **{f"{role}.storage.topic": f"{self.group}-{suffix}" for role, suffix in stored.items()},
            **{f"{role}.storage.replication.factor": "1" for role in stored},
            **{f"{role}.addresses": ",".join(self._addresses[role]) for role in OWNERS},
        }
