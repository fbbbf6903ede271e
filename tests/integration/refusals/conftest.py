"""One guarded system, in which a connector runs that nobody may touch."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest
from copycat_embedded.ports import free_ports
from copycat_testkit.kafka import unique, wait_until
from copycat_testkit.system import CopycatUp, names

from tests.integration.refusals.guarded import CONNECTOR, Guarded, guards, make_certificates
from tests.issuer import Issuer, an_issuer, bearer


@pytest.fixture(scope="package")
def issuer() -> Iterator[Issuer]:
    with an_issuer() as made:
        yield made


@pytest.fixture(scope="package")
def guarded(kafka: str, issuer: Issuer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    """Run it, with its one connector."""
    folder = tmp_path_factory.mktemp("guarded")
    certificates = make_certificates(folder)
    settings = guards(folder, certificates, issuer, f"https://127.0.0.1:{free_ports(1)[0]}")
    options = [
        part
        for key, value in {**settings, **names(unique("guarded"))}.items()
        for part in ("--set", f"{key}={value}")
    ]
    with CopycatUp(folder / "data", kafka, options=options) as up:
        running = Guarded(up, certificates, issuer, folder / "audit.log")
        with running.http(certificates.known) as ann:
            ann.headers.update(bearer(issuer.token("ann")))
            _create(ann, str(folder / "in.txt"))
        yield running


def _create(client: httpx2.Client, file: str) -> None:
    config = {"connector.class": "FileStreamSource", "file": file, "topic": unique("guarded")}

    def runs() -> bool:
        said = client.get(f"/connectors/{CONNECTOR}/status")
        return said.is_success and [task["state"] for task in said.json()["tasks"]] == ["RUNNING"]

    client.put(f"/connectors/{CONNECTOR}/config", json=config).raise_for_status()
    wait_until(runs, what=f"{CONNECTOR} runs")


@pytest.fixture(autouse=True)
def nothing_is_done(guarded: Guarded) -> Iterator[None]:
    """Whatever a test tries, the connector is there afterwards as it was."""
    yield
    with guarded.http(guarded.certificates.known) as ann:
        said = ann.get(f"/connectors/{CONNECTOR}/status", headers=bearer(guarded.issuer.token("ann"))).json()
    assert (said["connector"]["state"], [task["state"] for task in said["tasks"]]) == ("RUNNING", ["RUNNING"])
