"""A running system with several executors, which the scenarios call workers, and more on demand."""

from __future__ import annotations

import signal
import ssl
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psutil
from copycat_embedded.ports import free_ports
from copycat_launcher.roles import ROLE_BY_NAME
from copycat_launcher.worker_properties import write_properties
from copycat_rest.advertised import local_url
from copycat_rpc.role import read_properties
from copycat_testkit.commands import COPYCAT_WORKER, Command, Commands, wait_gone
from copycat_testkit.kafka import consume_all, unique, wait_until
from copycat_testkit.processes import command_line
from copycat_testkit.system import CopycatUp

from tests.integration.scenarios.rest import PATIENCE, Rest
from tests.plain_hosts import on_plain_hosts

#: Brings the plugins of the scenarios.
ENVIRONMENT = {"PYTHONPATH": str(Path(__file__).with_name("author"))}


class Cluster:
    """One `copycat up` and what belongs to it."""

    def __init__(
        self,
        bootstrap: str,
        folder: Path,
        executors: int,
        settings: Mapping[str, str],
        environment: Mapping[str, str] | None = None,
        *,
        spark: bool = False,
    ) -> None:
        """Nothing starts yet; `environment` brings the plugins, by default those of the scenarios.

        Its hosts are plain processes unless `spark` runs them.
        """
        self.bootstrap = bootstrap
        self.folder = folder
        self.group = settings.get("group.id") or unique("scenarios")
        apart = {"services.in.one.process": "false"}  # scenarios end one of them alone
        given = {**self._names(), "offset.flush.interval.ms": "500", **apart, **settings}
        plugins = environment or ENVIRONMENT
        self._environment = plugins if spark else on_plain_hosts(plugins)
        self.up = CopycatUp(
            folder,
            bootstrap,
            settings=given,
            options=["--executors", str(executors)],
            environment=self._environment,
        )
        self._commands = Commands(folder, self._environment)

    def topic(self, what: str) -> str:
        """Return the name of an internal topic: configs, offsets, status or assignments."""
        return f"{self.group}-{what}"

    @contextmanager
    def running(self) -> Iterator[Cluster]:
        """Run it."""
        with self.up:
            self.rest = Rest(self.up.url)
            try:
                yield self
            finally:
                self._commands.close()

    def properties(self, role: str, more: Mapping[str, str]) -> Path:
        """Write the properties of one more process of a role, with an address of its own."""
        port = free_ports(1)[0]
        scheme = "http://" if role == "gateway" else ""
        listen = {ROLE_BY_NAME[role].listen_key: f"{scheme}127.0.0.1:{port}"}
        file = self.folder / f"{role}-{port}.properties"
        write_properties(file, {**read_properties(self.folder / "worker.properties"), **listen, **more})
        return file

    def address(self, file: Path, role: str) -> str:
        """Return where the process with these properties answers."""
        return ROLE_BY_NAME[role].address(read_properties(file))

    @contextmanager
    def gateway(self, more: Mapping[str, str], tls: ssl.SSLContext | None = None) -> Iterator[Rest]:
        """Run one more gateway with properties of its own; `tls` where it listens with https."""
        file = self.properties("gateway", more)
        command = self._commands.start(file, "--role", "gateway", program=COPYCAT_WORKER)
        rest = Rest(local_url(read_properties(file)), tls)
        wait_until(lambda: rest.succeeds("/"), PATIENCE, "one more gateway")
        try:
            yield rest
        finally:
            command.end()

    def add_workers(self, count: int = 1) -> list[Command]:
        """Start more executors at once and wait until all have joined."""
        files = [self.properties("executor", {}) for _ in range(count)]
        started = [self._commands.start(file, "--role", "executor", program=COPYCAT_WORKER) for file in files]
        addresses = {self.address(file, "executor") for file in files}
        wait_until(lambda: addresses <= self.rest.workers(), 2 * PATIENCE, f"{addresses} have joined")
        return started

    def remove(self, workers: Iterable[Command]) -> None:
        """Stop executors that were added at once, in good order, and wait until they have left."""
        leaving = [worker.process for worker in workers]
        staying = len(self.rest.workers()) - len(leaving)
        for process in leaving:
            process.terminate()
        for process in leaving:
            assert process.wait(PATIENCE) == 0
        wait_until(lambda: len(self.rest.workers()) == staying, PATIENCE, "they have left")

    def restart(self, role: str, how: signal.Signals = signal.SIGTERM) -> None:
        """End every process of a role, one after the other; each is started again by its supervisor."""
        for process in self._mains(role):
            self._restart(role, process, how)

    def restart_at_once(self, *roles: str) -> None:
        """End every process of some roles at the same time and wait until all are back."""
        processes = [process for role in roles for process in self._mains(role)]
        for process in processes:
            process.terminate()
        wait_gone(processes, 40)
        wait_until(lambda: all(map(self._mains, roles)) and self.healthy(), PATIENCE, "a healthy system")

    def values(self, topic: str) -> list[str]:
        """Return the values in a topic, by partition; none while there is no such topic."""
        return [(message.value() or b"").decode() for message in consume_all(self.bootstrap, topic)]

    def log(self, name: str) -> str:
        """Return what a program wrote: config, gateway, executor, executor-2."""
        return (self.folder / "logs" / f"{name}.log").read_text()

    def healthy(self) -> bool:
        """Tell whether requests would be answered."""
        return self.rest.succeeds("/health")

    def _mains(self, role: str) -> list[psutil.Process]:
        """Return the processes that are a role, without those they started."""
        return [each for each in self.up.processes(role) if _is_main(each, role)]

    def _restart(self, role: str, process: psutil.Process, how: signal.Signals) -> None:
        there = len(self._mains(role))
        process.send_signal(how)
        wait_gone([process], 40)
        wait_until(lambda: len(self._mains(role)) == there, PATIENCE, f"{role} runs again")
        wait_until(self.healthy, PATIENCE, "a healthy system")

    def _names(self) -> dict[str, str]:
        stored = {"config": "configs", "offset": "offsets", "status": "status", "assignment": "assignments"}
        names = {f"{room}.storage.topic": self.topic(what) for room, what in stored.items()}
        return {"group.id": self.group, **names}


def _is_main(process: psutil.Process, role: str) -> bool:
    return f"copycat_{role}" in command_line(process)
