"""A server in a Java program, and the one that is needed: a lean Apache Kafka node (KRaft)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from copycat_connect.files import LEAST_FREE_BYTES, full_disk

from copycat_embedded.broker_files import (
    TEMPLATE,
    format_log_folder,
    write_broker_properties,
)
from copycat_embedded.errors import BrokerError
from copycat_embedded.jars import ensure_jars
from copycat_embedded.jvm import JavaProgram
from copycat_embedded.ports import LOOPBACK, free_ports
from copycat_embedded.private_listener import PrivateListener


class JavaServer(ABC):
    """One server; in a `with` block it runs from the beginning to the end of that."""

    def __init__(self) -> None:
        self._program: JavaProgram | None = None

    @abstractmethod
    def start(self) -> str:
        """Start, wait until it can be used, and return its address."""

    @property
    def process_id(self) -> int:
        """Its process id; 0 when it does not run."""
        return 0 if self._program is None else self._program.pid

    def stop(self) -> None:
        """Stop cleanly; nothing happens when it does not run."""
        if self._program is not None:
            self._program.stop()
            self._program = None

    def kill(self) -> None:
        """End it by force, as a crash would; nothing happens when it does not run."""
        if self._program is not None:
            self._program.kill()
            self._program = None

    def __enter__(self) -> Self:
        """Start the server, and wait until it is ready."""
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the server, and wait for its end."""
        self.stop()


READY = "Kafka Server started"
READY_SECONDS = 60.0
ATTEMPTS = 3
LEAN = (
    "-Xms64m",
    "-Xmx256m",
    "-Xss512k",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:-UsePerfData",
    "-Djava.awt.headless=true",
)


class EmbeddedKafka(JavaServer):
    """A single-node Kafka on loopback whose data outlives it.

    The next start on the same `data_dir` goes on where this one stopped; the port may then differ
    unless one is given. The broker dies with this process, even by SIGKILL. The first clean stop on a
    machine takes some seconds longer: it leaves a class archive for later starts.
    """

    def __init__(
        self,
        data_dir: Path,
        port: int = 0,
        log: Path | None = None,
        settings: Mapping[str, str] | None = None,
        jvm: Sequence[str] = LEAN,
        *,
        private: PrivateListener | None = None,
    ) -> None:
        """Nothing starts yet; `port` 0 picks a free one at each start, `settings` are added to its own.

        With a `private` listener nobody else may do anything until its owner has given access rules.
        Other options of the `jvm` than lean ones make starts slower: the class archive is made for these.
        """
        super().__init__()
        self._data_dir = data_dir
        self._log_folder = data_dir / "log"
        self._log = log or data_dir / "broker.log"
        self._wanted_port = port
        self._settings = settings
        self._jvm = tuple(jvm)
        self.private = private
        self._port = 0

    @property
    def bootstrap(self) -> str:
        """The address for `bootstrap.servers`, once launched; that for everybody, where there are two."""
        return f"{LOOPBACK}:{self._port}"

    @property
    def log(self) -> Path:
        """Where the broker writes its output; begun anew at every start."""
        return self._log

    def start(self) -> str:
        """Start, wait until usable, and return the bootstrap address.

        Raises:
            JarError: A jar is missing or differs from the lock.
            NoJavaError: There is no Java 17 or newer.
            BrokerError: The broker did not come up; the text ends with its last lines.
        """
        for attempt in range(1, ATTEMPTS + 1):
            self.launch()
            try:
                return self.wait_ready()
            except BrokerError as failure:  # a free port was taken before the broker could take it
                if (
                    self._wanted_port
                    or attempt == ATTEMPTS
                    or "Address already in use" not in failure.message
                ):
                    raise
        raise AssertionError  # the loop above returns or raises

    def launch(self) -> str:
        """Start without waiting, and return the bootstrap address clients may already be given."""
        class_path = ensure_jars(("broker",))
        picked = free_ports(2)
        self._port = self._wanted_port or picked[0]
        format_log_folder(self._log_folder)
        properties = self._data_dir / "server.properties"
        write_broker_properties(
            properties, self._log_folder, self._port, picked[1], self._settings, private=self.private
        )
        self._program = JavaProgram(
            "kafka.Kafka",
            [str(properties)],
            class_path=class_path,
            options=(*self._jvm, f"-Dlog4j2.configurationFile={TEMPLATE / 'log4j2.properties'}"),
            log=self.log,
            archive_folder=self._data_dir if self._jvm == LEAN else None,
        )
        return self.bootstrap

    def full_disk(self, least: int = LEAST_FREE_BYTES) -> str:
        """Say that less than `least` bytes are free where its data lies; empty while there are more."""
        return full_disk(self._data_dir, least)

    def is_ready(self) -> bool:
        """Tell, without waiting, whether the launched broker is usable."""
        return self._program is not None and self._program.said(READY)

    def wait_ready(self) -> str:
        """Wait until the launched broker is usable, and return the bootstrap address."""
        program = self._program
        if program is None:
            raise BrokerError("The broker was not launched.")
        if program.wait_for_line(READY, READY_SECONDS):
            return self.bootstrap
        ended = program.exit_code()
        program.kill()
        self._program = None
        what = f"was not ready within {READY_SECONDS:.0f} s" if ended is None else f"ended with code {ended}"
        raise BrokerError(
            f"The embedded Kafka broker {what}. Its log {program.log} ends with:\n{program.last_lines()}",
            log=str(program.log),
        )

    def exit_code(self) -> int | None:
        """The code a launched broker ended with by itself; None while it runs or when it was stopped."""
        return None if self._program is None else self._program.exit_code()
