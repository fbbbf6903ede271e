"""One real system for the client's tests, and the properties of its workers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from copycat_testkit.system import CopycatUp, names

from tests.plain_hosts import on_plain_hosts


@pytest.fixture(scope="package")
def worker(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A system; gives the file that says where its services are."""
    folder = tmp_path_factory.mktemp("client")
    settings = {
        **names("client"),
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
        "value.converter": "org.apache.kafka.connect.storage.StringConverter",
        "offset.flush.interval.ms": "300",
    }
    options = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    with CopycatUp(folder, kafka, options=options, environment=on_plain_hosts()):
        yield folder / "worker.properties"
