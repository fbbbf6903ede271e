"""A real OpenTelemetry Collector for tests, built once from its Go modules: it takes OTLP and hands it on."""

from __future__ import annotations

import json
import socket
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from copycat_embedded.guard import Guard
from copycat_embedded.ports import LOOPBACK, free_ports

from copycat_testkit.go_programs import built_once, go_install, run_in
from copycat_testkit.kafka import wait_until

VERSION: Final = "0.155.0"
READY_SECONDS: Final = 60.0
_MODULES: Final = "go.opentelemetry.io/collector"


class OtelCollector:
    """One collector on loopback: what it takes over OTLP (gRPC) goes to another OTLP endpoint."""

    def __init__(self, folder: Path, to: str) -> None:
        """Nothing starts yet.

        Args:
            folder: A folder of its own, for settings and log.
            to: `host:port` to which spans and metrics are handed on.
        """
        self._folder = folder
        self._to = to
        self._process: subprocess.Popen[bytes] | None = None
        self._guard: Guard | None = None
        [self.port] = free_ports(1)

    @property
    def endpoint(self) -> str:
        """What `otel.exporter.otlp.endpoint` is to be."""
        return f"http://{LOOPBACK}:{self.port}"

    def start(self) -> None:
        """Start, and wait until it listens."""
        self._folder.mkdir(parents=True, exist_ok=True)
        pipeline = {"receivers": ["otlp"], "exporters": ["otlp_grpc"]}
        settings = {
            "receivers": {"otlp": {"protocols": {"grpc": {"endpoint": f"{LOOPBACK}:{self.port}"}}}},
            "exporters": {"otlp_grpc": {"endpoint": self._to, "tls": {"insecure": True}}},
            "service": {
                "pipelines": {"traces": pipeline, "metrics": pipeline},
                "telemetry": {"metrics": {"level": "none"}},
            },
        }
        file = self._folder / "collector.yaml"
        file.write_text(json.dumps(settings), encoding="utf-8")  # which is YAML, too
        command = [str(program()), f"--config={file}"]
        self._guard = Guard()
        with (self._folder / "log").open("wb") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        self._guard.watch(self._process.pid)
        wait_until(self._listens, READY_SECONDS, f"the collector of {self._folder} listens")

    def kill(self) -> None:
        """End it at once; what it has not handed on is lost."""
        if self._process is not None and self._guard is not None:
            self._process.kill()
            self._process.wait()
            self._guard.forget(self._process.pid)
            self._guard.close()
        self._process = None

    def __enter__(self) -> Self:
        """Start."""
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        self.kill()

    def _listens(self) -> bool:
        with socket.socket() as tried:
            return tried.connect_ex((LOOPBACK, self.port)) == 0


def program() -> Path:
    """Return the collector's program; it is built where this user has none yet."""
    return built_once(f"otelcol-{VERSION}", _build)


def _build(place: Path) -> Path:
    """Have the collector's own builder make one with a receiver and an exporter, both OTLP."""
    environment = go_install(f"{_MODULES}/cmd/builder@v{VERSION}", place)
    manifest = {
        "dist": {"name": "otelcol", "output_path": str(place / "collector")},
        "receivers": [{"gomod": f"{_MODULES}/receiver/otlpreceiver v{VERSION}"}],
        "exporters": [{"gomod": f"{_MODULES}/exporter/otlpexporter v{VERSION}"}],
    }
    (place / "manifest.yaml").write_text(json.dumps(manifest), encoding="utf-8")
    run_in(place, environment, str(place / "builder"), f"--config={place / 'manifest.yaml'}")
    return place / "collector" / "otelcol"
