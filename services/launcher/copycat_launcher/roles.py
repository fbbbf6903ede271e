"""The roles of a cluster, in the order in which they are started; they are stopped in the opposite one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from copycat_rest.advertised import local_url
from copycat_rest.listeners import LISTENERS

ANYWHERE = {"", "0.0.0.0", "[::]"}  # noqa: S104 - recognised, not bound


@dataclass(frozen=True, slots=True)
class Role:
    """One service of a cluster."""

    name: str
    """What `--role` calls it."""
    stage: int
    """Later stages use earlier ones; a stop drains the last stage first."""
    default_listen: str
    """Where it answers gRPC when the properties do not say; empty for the gateway."""

    @property
    def module(self) -> str:
        """The package `python -m` runs."""
        return f"copycat_{self.name}"

    @property
    def listen_key(self) -> str:
        """The property that says where it answers."""
        return f"{self.name}.listen" if self.default_listen else LISTENERS.name

    def address(self, properties: Mapping[str, str]) -> str:
        """Return the host:port at which this machine reaches it."""
        if not self.default_listen:
            return urlsplit(local_url(properties)).netloc
        return _reachable(properties.get(self.listen_key, self.default_listen))


def _reachable(address: str) -> str:
    host, _, port = address.rpartition(":")
    return f"127.0.0.1:{port}" if host in ANYWHERE else address


CONFIG = Role("config", 1, "127.0.0.1:9101")
OFFSET = Role("offset", 1, "127.0.0.1:9102")
STATUS = Role("status", 1, "127.0.0.1:9103")
SCHEDULER = Role("scheduler", 2, "127.0.0.1:9104")
EXECUTOR = Role("executor", 3, "127.0.0.1:9105")
GATEWAY = Role("gateway", 4, "")
ROLES = (CONFIG, OFFSET, STATUS, SCHEDULER, EXECUTOR, GATEWAY)
GRPC_ROLES = tuple(role for role in ROLES if role.default_listen)
ROLE_BY_NAME: Mapping[str, Role] = {role.name: role for role in ROLES}
