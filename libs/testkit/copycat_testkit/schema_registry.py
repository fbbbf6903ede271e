"""A real schema registry for tests: an Apicurio Registry with all in memory."""

from __future__ import annotations

import tarfile
from pathlib import Path

from copycat_embedded.broker import JavaServer
from copycat_embedded.jars import ensure_jars
from copycat_embedded.jvm import JavaProgram
from copycat_embedded.ports import LOOPBACK, free_ports

from copycat_testkit.java_server import wait_answering

READY_SECONDS = 60.0
LEAN = (
    "-Xms64M",
    "-Xmx256M",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",  # it answers some hundred requests in its life
    "-Dquarkus.log.level=WARN",
    "-Dquarkus.http.access-log.enabled=false",
)


class SchemaRegistry(JavaServer):
    """One registry on loopback that speaks Confluent's REST interface."""

    def __init__(self, folder: Path, *, port: int = 0) -> None:
        """Nothing starts yet; `folder` receives its jars and its log, `port` 0 picks a free one."""
        super().__init__()
        self._folder = folder
        self._port = port or free_ports(1)[0]

    @property
    def url(self) -> str:
        """What `schema.registry.url` is set to."""
        return f"http://{LOOPBACK}:{self._port}/apis/ccompat/v7"

    def start(self) -> str:
        """Start, wait until it answers, and return its address.

        Raises:
            CopycatError: It ended or was not ready in time; the text ends with its last lines.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        with tarfile.open(ensure_jars(("registry",))[0]) as archive:
            archive.extractall(self._folder, filter="data")
        log = self._folder / "registry.log"
        program = JavaProgram(
            "io.quarkus.runner.GeneratedMain",
            [],
            class_path=sorted(self._folder.glob("*-runner.jar")),
            options=(*LEAN, f"-Dquarkus.http.host={LOOPBACK}", f"-Dquarkus.http.port={self._port}"),
            log=log,
        )
        wait_answering(program, f"{self.url}/subjects", READY_SECONDS, "The schema registry", log)
        self._program = program
        return self.url

    def stop(self) -> None:
        """End it; nothing is worth keeping."""
        self.kill()
