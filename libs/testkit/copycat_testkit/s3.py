"""S3 for tests: the server of moto, which simulates it, as a process of its own on loopback.

It is a simulator, not a store that anybody keeps objects in: what it shows is that calls, conditions and
refusals are those of S3's protocol as moto knows it. Everything is in memory and gone when the process ends.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

import httpx2
from copycat_embedded.guard import Guard
from copycat_embedded.ports import LOOPBACK, free_ports

from copycat_testkit.kafka import wait_until

READY_SECONDS: Final = 60.0
REGION: Final = "us-west-2"


class S3Server:
    """One server; objects are lost when it ends, unless it is only frozen."""

    def __init__(self, log: Path) -> None:
        """Nothing starts yet; `log` receives what it writes."""
        self._log = log
        self._port = free_ports(1)[0]
        self._process: subprocess.Popen[bytes] | None = None
        self._guard: Guard | None = None

    @property
    def url(self) -> str:
        """What `store.url` is set to."""
        return f"http://{LOOPBACK}:{self._port}"

    def start(self) -> Self:
        """Start, and wait until it answers."""
        self._log.parent.mkdir(parents=True, exist_ok=True)
        self._guard = Guard()
        with self._log.open("ab") as log:
            self._process = self._run(log)
        self._guard.watch(self._process.pid)
        wait_until(self._answers, READY_SECONDS, "the S3 server answers")
        return self

    def demand_logins(self) -> None:
        """Refuse from now on whoever does not show an access key that the server knows."""
        httpx2.post(f"{self.url}/moto-api/reset-auth", content=b"0").raise_for_status()

    def stop(self) -> None:
        """End it by force; nothing happens when it does not run."""
        if self._process is not None and self._guard is not None:
            self._process.kill()
            self._process.wait()
            self._guard.forget(self._process.pid)
            self._guard.close()
            self._process = self._guard = None

    def freeze(self) -> None:
        """Let it answer nobody, as a server that hangs."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def __enter__(self) -> Self:
        """Start."""
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        self.stop()

    def _run(self, log: IO[Any]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "copycat_testkit.s3_process", LOOPBACK, str(self._port)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, f"the S3 server ended: {self._log.read_text()[-2000:]}"
        try:
            return httpx2.get(f"{self.url}/moto-api/", timeout=5).status_code == httpx2.codes.OK
        except httpx2.HTTPError:
            return False
