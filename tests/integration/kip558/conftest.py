"""One system for all of KIP-558 that needs no other settings."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.integration.emitting.bench import System, system


@pytest.fixture(scope="package")
def tracking(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """A system that tracks topics."""
    with system(kafka, tmp_path_factory.mktemp("kip558")) as running:
        yield running


@pytest.fixture
def on(tracking: System) -> Iterator[System]:
    """The same; what a test leaves behind is deleted."""
    yield tracking
    tracking.rest.clean()
