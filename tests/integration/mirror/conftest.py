"""A second broker, and one running Copycat that works on the first: the target of mirrors."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from copycat_embedded.broker import EmbeddedKafka
from copycat_testkit.system import CopycatUp

from tests.integration.mirror.pair import Pair
from tests.plain_hosts import on_plain_hosts


@pytest.fixture(scope="package")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run the cluster that is mirrored, and give its address."""
    with EmbeddedKafka(tmp_path_factory.mktemp("source")) as broker:
        yield broker.bootstrap


@pytest.fixture(scope="package")
def pair(source: str, kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Run Copycat on the target, and give how to talk to all three."""
    with CopycatUp(tmp_path_factory.mktemp("mirror"), kafka, environment=on_plain_hosts()) as system:
        yield Pair(source, kafka, system)
