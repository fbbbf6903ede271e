"""Where the processes of a system listen, and where SECURITY.md says that they do."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Set
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeAlias

import psutil
from copycat_launcher.roles import ROLES

SECURITY: Final = Path(__file__).parents[2] / "services/launcher/SECURITY.md"
LOOPBACK: Final = {"127.0.0.1", "::1"}
SERVICES: Final = "services"
"""What SECURITY.md calls the process that config, offset, status and scheduler may share."""
Listening: TypeAlias = Mapping[str, Set[tuple[str, int]]]
"""Hosts and ports by the kind of the process."""


def listening(launcher: int) -> Listening:
    """Return where the launcher with this process id and what it started listen."""
    found = defaultdict(set)
    up = psutil.Process(launcher)
    for process in (up, *up.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):  # task hosts come and go
            for each in process.net_connections("tcp"):
                if each.status == psutil.CONN_LISTEN:
                    found[_kind(process)].add((each.laddr.ip, each.laddr.port))
    return found


def ports_by_kind(found: Listening) -> Mapping[str, int]:
    """Return how many ports each kind of process listens on."""
    return {kind: len({port for _, port in ports}) for kind, ports in found.items()}


def hosts(found: Listening) -> Set[str]:
    """Return all addresses that something listens on."""
    return {host.removeprefix("::ffff:") for ports in found.values() for host, _ in ports}


def documented() -> Mapping[str, int]:
    """Return what SECURITY.md says of ports, where each service has a process of its own."""
    table = SECURITY.read_text("utf-8").split("<!-- listening -->")[1]
    return {kind: int(count) for kind, count in re.findall(r"^\| `(\w+)` \| (\d+) \|", table, re.M)}


def _kind(process: psutil.Process) -> str:
    """Return what SECURITY.md calls a process."""
    command = " ".join(process.cmdline())
    if process.name() == "java":
        return "java"
    if "copycat_executor.spark" in command:
        return "spark"
    if "copycat_launcher.services" in command:
        return SERVICES
    return next((role.name for role in ROLES if role.module in command), command)
