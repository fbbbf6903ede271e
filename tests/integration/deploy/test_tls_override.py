"""A system with the settings of deploy/compose/tls.yaml, used as deploy/README.md says."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import grpc
import httpx2
import pytest
from copycat_embedded.ports import free_ports
from copycat_launcher.roles import GRPC_ROLES
from copycat_rpc.role import read_properties
from copycat_testkit.commands import COPYCAT
from copycat_testkit.kafka import unique, wait_until
from copycat_testkit.system import CopycatUp, names
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.plain_hosts import on_plain_hosts
from tests.tls_override import guards, page, shell

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

OF_THE_PAGE = "https://127.0.0.1:8083"


@dataclass(frozen=True, slots=True)
class Typist:
    """Types the page's commands, with another port and home."""

    folder: Path
    url: str
    environment: Mapping[str, str]

    def __call__(self, *commands: str) -> str:
        """Type them after all `export`s of the page; returns what they printed.

        Raises:
            AssertionError: One failed.
        """
        exported = [line for part in page() for line in part if line.startswith("export ")]
        typed = [line.replace(OF_THE_PAGE, self.url) for line in (*exported, *commands)]
        done = shell(*typed, environment=self.environment)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def typist(tmp_path_factory: pytest.TempPathFactory) -> Typist:
    folder = tmp_path_factory.mktemp("override")
    environment = {**os.environ, "HOME": str(folder), "PATH": f"{COPYCAT.parent}:{os.environ['PATH']}"}
    typist = Typist(folder, f"https://127.0.0.1:{free_ports(1)[0]}", environment)
    before_up, _ = page()
    typist(*(line for line in before_up if not line.startswith("export ")))
    return typist


@pytest.fixture(scope="module")
def system(kafka: str, typist: Typist) -> Iterator[CopycatUp]:
    certificates = Path(typist('echo "$COPYCAT_CERTIFICATES"').strip())
    settings = {**guards(certificates), "listeners": typist.url, **names(unique("override"))}
    with CopycatUp(typist.folder / "data", kafka, settings=settings, environment=on_plain_hosts()) as up:
        yield up


@pytest.mark.usefixtures("system")
def test_the_commands_of_the_page_reach_it(typist: Typist) -> None:
    _, after_up = page()
    commands = [line for line in after_up if not line.startswith("export ")]
    assert [command.split()[0] for command in commands] == ["curl", "copycat"]

    health, listing = (typist(command) for command in commands)

    assert json.loads(health)["status"] == "healthy"
    assert listing.startswith(("CONNECTOR", "There are no connectors yet."))


@pytest.mark.usefixtures("system")
def test_a_pipeline_moves_lines(typist: Typist) -> None:
    topic, folder = unique("lines"), typist.folder
    source = {"connector.class": "FileStreamSource", "file": str(folder / "in.txt"), "topic": topic}
    sink = {"connector.class": "FileStreamSink", "file": str(folder / "out.txt"), "topics": topic}
    (folder / "in.txt").write_text("hello\n")
    for name, config in (("source", source), ("sink", sink)):
        (folder / f"{name}.json").write_text(json.dumps({"name": unique(name), "config": config}))

    typist(f"copycat apply {folder}/source.json {folder}/sink.json")

    wait_until(lambda: _text(folder / "out.txt") == "hello\n", 120, "the line has arrived")


@pytest.mark.usefixtures("system")
def test_without_a_certificate_there_is_no_rest(typist: Typist) -> None:
    refused = 'if curl -s --cacert "$COPYCAT_CA" "$COPYCAT_URL/health"; then exit 1; fi'
    assert typist(refused) == ""


@pytest.mark.usefixtures("system")
def test_plain_http_is_not_understood(typist: Typist) -> None:
    with pytest.raises(httpx2.TransportError):
        httpx2.get(f"{typist.url.replace('https', 'http')}/health", timeout=60)


def test_grpc_in_plain_text_is_refused(system: CopycatUp) -> None:
    properties = read_properties(system.folder / "worker.properties")
    for role in GRPC_ROLES:
        with (
            grpc.insecure_channel(role.address(properties)) as channel,
            pytest.raises(grpc.RpcError) as caught,
        ):
            health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=60)
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE, role.name


def _text(file: Path) -> str:
    return file.read_text() if file.exists() else ""
