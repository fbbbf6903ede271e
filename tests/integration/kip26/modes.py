"""The ways to run Copycat, each as the operations it offers (K26-41, K26-43)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from copycat_cli.connector_files import ConnectorFile
from copycat_embedded.ports import free_ports
from copycat_launcher.embedded import Copycat
from copycat_launcher.operations import Operations, submit
from copycat_testkit.commands import Commands
from copycat_testkit.kafka import unique

from tests.plain_hosts import on_plain_hosts

STRING = "org.apache.kafka.connect.storage.StringConverter"
SETTINGS = {"key.converter": STRING, "value.converter": STRING, "offset.flush.interval.ms": "300"}
START = 180.0


class OverRest(Operations):
    """A system that others started."""

    def __init__(self, url: str) -> None:
        """Keep the root of its REST interface."""
        self._url = url

    @property
    def rest_url(self) -> str:
        """The same."""
        return self._url

    @property
    def _tls(self) -> None:
        """Its interface is plain http."""

    def add_connector(self, config: Mapping[str, str]) -> None:
        """Create a connector, or change the one of this name, and wait until it has started."""
        asyncio.run(submit(self._url, ConnectorFile(Path("suite"), config["name"], dict(config))))


Mode = OverRest | Copycat


@contextmanager
def standalone(kafka: str, folder: Path) -> Iterator[Mode]:
    """One process and an offset file."""
    properties = {
        **SETTINGS,
        "bootstrap.servers": kafka,
        "listeners": f"http://127.0.0.1:{free_ports(1)[0]}",
        "offset.storage.file.filename": str(folder / "offsets"),
    }
    worker = folder / "worker.properties"
    worker.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
    commands = Commands(folder, on_plain_hosts())
    process = commands.start("standalone", worker)
    yield OverRest(process.wait_ready(START))
    assert process.end() == 0, process.said()
    commands.close()


@contextmanager
def embedded(kafka: str) -> Iterator[Mode]:
    """Threads of this very process."""
    with Copycat(unique("modes"), kafka, settings=SETTINGS) as copycat:
        yield copycat
