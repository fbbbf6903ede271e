"""One instance of one role: started, killed, frozen and thawed as a test wants."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from pathlib import Path

from copycat_testkit.commands import COPYCAT_WORKER, Command, Commands
from copycat_testkit.kafka import wait_until
from copycat_testkit.serving import serves

START_SECONDS = 120.0


class RoleMember:
    """A process of one role: `copycat-worker worker.properties --role <role>`."""

    def __init__(self, role: str, address: str, properties: Mapping[str, str], commands: Commands) -> None:
        """Prepare it with the address it listens on and its properties; nothing starts yet."""
        self.role = role
        self.address = address
        self.secret = properties.get("cluster.secret", "")
        self._commands = commands
        self._command: Command | None = None
        self._file = self._write({**properties, **self._listen()})

    @property
    def pid(self) -> int:
        """Id of its running process."""
        return self._running.process.pid

    @property
    def runs(self) -> bool:
        """True while its process is alive."""
        return self._command is not None and self._command.process.poll() is None

    def start(self) -> None:
        """Start it, for the first time or again."""
        self._command = self._commands.start(self._file, "--role", self.role, program=COPYCAT_WORKER)

    def serving(self) -> bool:
        """Return whether its health check says that it serves."""
        return serves(self.role, self.address)

    def wait_serving(self, seconds: float = START_SECONDS) -> None:
        """Wait until its health check says that it serves."""

        def ready() -> bool:
            assert self.runs, f"{self.role} ended:\n{self._running.said()[-4000:]}"
            return self.serving()

        wait_until(ready, seconds, f"a {self.role} that serves at {self.address}")

    def kill(self) -> None:
        """SIGKILL it and what it started."""
        os.killpg(self.pid, signal.SIGKILL)
        self._running.process.wait()

    def freeze(self) -> None:
        """Stop its process by SIGSTOP: it is alive but answers nothing."""
        self._running.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let its process go on by SIGCONT."""
        self._running.process.send_signal(signal.SIGCONT)

    def end(self) -> int:
        """SIGTERM it and return its exit code."""
        return self._running.end()

    @property
    def _running(self) -> Command:
        assert self._command is not None, f"{self.role} was not started"
        return self._command

    def _listen(self) -> dict[str, str]:
        if self.role == "gateway":
            return {"listeners": f"http://{self.address}"}
        return {f"{self.role}.listen": self.address}

    def _write(self, properties: Mapping[str, str]) -> Path:
        file = self._commands.folder / f"{self.role}-{self.address.rpartition(':')[2]}.properties"
        file.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
        return file
