"""One system whose users log in, for all tests of its past."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from copycat_testkit.kafka import wait_until

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.rest import PATIENCE, Rest

BASIC_AUTH = "org.apache.kafka.connect.rest.basic.auth.extension.BasicAuthSecurityRestExtension"


@dataclass(frozen=True)
class Guarded:
    """A system that ann and bob may use."""

    cluster: Cluster
    url: str
    ann: Rest
    bob: Rest
    folder: Path


@pytest.fixture(scope="package")
def guarded(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    """Run it."""
    folder = tmp_path_factory.mktemp("history")
    users = folder / "users.properties"
    users.write_text("ann=s3cret\nbob=s4cret\n")
    settings = {
        "rest.extension.classes": BASIC_AUTH,
        "rest.basic.auth.file": str(users),
        "changes.offsets.interval.ms": "1000",
    }
    with Cluster(kafka, folder / "data", 1, settings).running() as running:
        url = running.up.url
        ann, bob = (Rest(url.replace("//", f"//{user}@")) for user in ("ann:s3cret", "bob:s4cret"))
        wait_until(lambda: ann.succeeds("/health"), PATIENCE, "a healthy system")
        yield Guarded(running, url, ann, bob, folder)
        ann.clean()
