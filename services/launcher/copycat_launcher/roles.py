"""The roles of a cluster, in the order in which they are started; they are stopped in the opposite one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from copycat_connect.cluster import GRPC_PORTS, default_address, is_wildcard
from copycat_rest.advertised import local_url
from copycat_rest.listeners import LISTENERS

#: An event-sourced service takes no longer to stop, whatever hangs (`tools/adr/0050-draining.md`).
STOP_SECONDS: Final = 40.0


@dataclass(frozen=True, slots=True)
class ServiceRole:
    """One service of a cluster."""

    name: str
    """What `--role` calls it."""
    stage: int
    """Later stages use earlier ones; a stop drains the last stage first."""

    @property
    def answers_grpc(self) -> bool:
        """Other roles call it; the gateway answers REST alone."""
        return self.name in GRPC_PORTS

    @property
    def module(self) -> str:
        """The package `python -m` runs."""
        return f"copycat_{self.name}"

    @property
    def listen_key(self) -> str:
        """The property that says where it answers."""
        return f"{self.name}.listen" if self.answers_grpc else LISTENERS.name

    def address(self, properties: Mapping[str, str]) -> str:
        """Return the host:port at which this machine reaches it."""
        if not self.answers_grpc:
            return urlsplit(local_url(properties)).netloc
        return _reachable(properties.get(self.listen_key, default_address(self.name)))


def _reachable(address: str) -> str:
    host, _, port = address.rpartition(":")
    return f"127.0.0.1:{port}" if is_wildcard(host) else address


CONFIG = ServiceRole("config", 1)
OFFSET = ServiceRole("offset", 1)
STATUS = ServiceRole("status", 1)
SCHEDULER = ServiceRole("scheduler", 2)
EXECUTOR = ServiceRole("executor", 3)
GATEWAY = ServiceRole("gateway", 4)
SERVICES = (CONFIG, OFFSET, STATUS, SCHEDULER)
"""Those that own a log. None runs code of connectors, so they may share a process."""
ROLES = (*SERVICES, EXECUTOR, GATEWAY)
GRPC_ROLES = tuple(role for role in ROLES if role.answers_grpc)
ROLE_BY_NAME: Mapping[str, ServiceRole] = {role.name: role for role in ROLES}
