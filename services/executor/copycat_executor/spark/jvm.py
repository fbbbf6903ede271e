"""Spark's JVM as a child process: started without a fork of this process, watched, ended."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from copycat_executor.domain.errors import SparkLostError
from copycat_executor.spark.command import spark_home
from copycat_executor.spark.scratch import ScratchFolder

START_TIMEOUT_SECONDS = 120.0
STOP_TIMEOUT_SECONDS = 10.0
POLL_INTERVAL_SECONDS = 0.02


class SparkJvm:
    """A running JVM with PySpark's gateway in it. It ends when this process ends, however that happens."""

    def __init__(self, command: Sequence[str], scratch: ScratchFolder, *, quiet: bool = False) -> None:
        """Start it and wait until its gateway listens; what it prints goes to our stderr unless `quiet`.

        `scratch` holds its temporary files, as the command says to it, and is removed when it is gone.

        Raises:
            SparkLostError: It ended, or did not come up in time.
        """
        self._scratch = scratch
        connection = scratch.path / "connection"
        environment = {
            **os.environ,
            "SPARK_HOME": str(spark_home()),
            "SPARK_CONNECT_MODE": "0",
            # Where Spark itself looks for Python data sources; without it that is whatever `python3` is.
            "PYSPARK_DRIVER_PYTHON": sys.executable,
            "_PYSPARK_DRIVER_CONN_INFO_PATH": str(connection),
        }
        # No preexec_fn: without one the child starts by vfork, which is safe beside running threads.
        self._process = subprocess.Popen(  # our own command line
            command,
            stdin=subprocess.PIPE,  # the gateway ends when this pipe closes
            stdout=subprocess.DEVNULL if quiet else 2,  # where a JVM says why it cannot start
            stderr=subprocess.DEVNULL if quiet else None,
            env=environment,
            process_group=0,  # Ctrl-C is for us; we end it in its turn
        )
        try:
            self.port, self.secret = self._connection(connection)
        except SparkLostError:
            self._process.wait()
            scratch.remove()
            raise
        connection.unlink()  # it holds the secret

    @property
    def pid(self) -> int:
        """Process id of the JVM."""
        return self._process.pid

    def when_ended(self, ended: Callable[[int], None]) -> None:
        """Call `ended` with the exit code, from another thread, as soon as the JVM is gone."""

        def watch() -> None:
            code = self._process.wait()
            self._scratch.remove()
            ended(code)

        threading.Thread(target=watch, name="spark-jvm-watch", daemon=True).start()

    def kill(self) -> None:
        """End it by force; whoever watches its end hears of it."""
        self._process.kill()

    def stop(self, seconds: float = STOP_TIMEOUT_SECONDS) -> None:
        """End it, by force when that takes longer than `seconds`."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._scratch.remove()

    def _connection(self, file: Path) -> tuple[int, str]:
        deadline = time.monotonic() + START_TIMEOUT_SECONDS
        while not file.is_file():
            code = self._process.poll()
            if code is not None:
                raise SparkLostError(
                    f"Spark's JVM ended with exit code {code} before it was up; its messages are above"
                )
            if time.monotonic() > deadline:
                self._process.kill()
                raise SparkLostError(f"Spark's JVM was not up after {START_TIMEOUT_SECONDS:.0f} s")
            time.sleep(POLL_INTERVAL_SECONDS)
        content = file.read_bytes()
        port, length = struct.unpack(">ii", content[:8])
        return port, content[8 : 8 + length].decode()
