"""A real Prometheus for tests: Debian's, unpacked beside the other things this user can make again."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import httpx2
from copycat_embedded.guard import Guard
from copycat_embedded.places import user_cache
from copycat_embedded.ports import LOOPBACK, free_ports

from copycat_testkit.debian import one_at_a_time, unpack
from copycat_testkit.kafka import wait_until

READY_SECONDS: Final = 60.0
#: So that a test sees in a minute what takes a quarter of an hour elsewhere.
EVERY: Final = "1s"


class Prometheus:
    """One server on loopback that scrapes each second, with the rules of files."""

    def __init__(self, folder: Path, targets: Mapping[str, str], rules: Sequence[Path] = ()) -> None:
        """Nothing starts yet; `folder` receives settings, data and log.

        Args:
            folder: A folder of its own.
            targets: Of each job `host:port`, whose `/metrics` is read.
            rules: Files of alerts.
        """
        self._folder = folder
        self._targets = dict(targets)
        self._rules = [str(path.resolve()) for path in rules]
        self._process: subprocess.Popen[bytes] | None = None
        self._guard: Guard | None = None
        [self._port] = free_ports(1)

    @property
    def url(self) -> str:
        """Where its interface is."""
        return f"http://{LOOPBACK}:{self._port}"

    def query(self, expression: str) -> list[dict[str, Any]]:
        """Return the series of an expression as it is now, each with `metric` and `value`.

        Raises:
            AssertionError: It refuses the expression.
        """
        reply = httpx2.get(f"{self.url}/api/v1/query", params={"query": expression}, timeout=30)
        assert reply.status_code == 200, f"{expression}: {reply.text}"
        found: list[dict[str, Any]] = reply.json()["data"]["result"]
        return found

    def alerts(self) -> dict[str, list[dict[str, Any]]]:
        """Return the alerts that are pending or firing, by name."""
        found: dict[str, list[dict[str, Any]]] = {}
        for alert in httpx2.get(f"{self.url}/api/v1/alerts", timeout=30).json()["data"]["alerts"]:
            found.setdefault(alert["labels"]["alertname"], []).append(alert)
        return found

    def __enter__(self) -> Self:
        """Start, and wait until it answers."""
        self._folder.mkdir(parents=True, exist_ok=True)
        jobs = [
            {"job_name": job, "static_configs": [{"targets": [target]}]}
            for job, target in self._targets.items()
        ]
        settings = {
            "global": {"scrape_interval": EVERY, "evaluation_interval": EVERY},
            "rule_files": self._rules,
            "scrape_configs": jobs,
        }
        file = self._folder / "prometheus.yml"
        file.write_text(json.dumps(settings), encoding="utf-8")  # which is YAML, too
        command = [
            str(program("prometheus")),
            f"--config.file={file}",
            f"--storage.tsdb.path={self._folder / 'data'}",
            f"--web.listen-address={LOOPBACK}:{self._port}",
        ]
        self._guard = Guard()
        with (self._folder / "log").open("wb") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        self._guard.watch(self._process.pid)
        wait_until(self._ready, READY_SECONDS, "Prometheus answers")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        if self._process is not None and self._guard is not None:
            self._process.kill()
            self._process.wait()
            self._guard.forget(self._process.pid)
            self._guard.close()

    def _ready(self) -> bool:
        try:
            return httpx2.get(f"{self.url}/-/ready", timeout=5).status_code == 200
        except httpx2.TransportError:
            return False


def program(name: str) -> Path:
    """Return `prometheus` or `promtool`: those on the path, else Debian's."""
    if (found := shutil.which(name)) is not None:
        return Path(found)
    folder = user_cache() / "prometheus"
    with one_at_a_time("prometheus-unpack"):
        if not folder.exists():
            half = folder.with_suffix(".part")
            shutil.rmtree(half, ignore_errors=True)
            unpack("prometheus", half)
            half.rename(folder)
    return folder / "usr/bin" / name
