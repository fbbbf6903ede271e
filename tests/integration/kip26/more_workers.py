"""Single roles that a test adds to the cluster."""

from __future__ import annotations

from pathlib import Path

import httpx2
from copycat_embedded.ports import free_ports
from copycat_rpc.role import read_properties
from copycat_testkit.commands import COPYCAT_WORKER, Command, Commands
from copycat_testkit.kafka import unique, wait_until
from copycat_testkit.system import CopycatUp

from tests.integration.kip26.world import SECONDS
from tests.plain_hosts import on_plain_hosts


class Workers:
    """Starts single roles of the cluster beside those it has."""

    def __init__(self, system: CopycatUp, folder: Path) -> None:
        self._properties = read_properties(system.folder / "worker.properties")
        self._folder = folder
        self._commands = Commands(folder, on_plain_hosts())

    def start(self, role: str, **more: str) -> Command:
        """Start a role whose properties differ in these, `_` for `.`."""
        told = {**self._properties, **{key.replace("_", "."): value for key, value in more.items()}}
        file = self._folder / f"{unique(role)}.properties"
        file.write_text("".join(f"{key}={value}\n" for key, value in told.items()))
        return self._commands.start(file, "--role", role, program=COPYCAT_WORKER)

    def executor(self) -> tuple[Command, str]:
        """Start an executor; returns its worker id, too."""
        address = f"127.0.0.1:{free_ports(1)[0]}"
        return self.start("executor", executor_listen=address, executor_addresses=address), address

    def gateway(self) -> str:
        """Start a gateway; returns its root once it answers."""
        url = f"http://127.0.0.1:{free_ports(1)[0]}"
        self.start("gateway", listeners=url)
        wait_until(lambda: answers(url), SECONDS, "another gateway")
        return url

    def close(self) -> None:
        self._commands.close()


def answers(url: str) -> bool:
    try:
        return httpx2.get(f"{url}/health", timeout=30).status_code == 200
    except httpx2.TransportError:
        return False
