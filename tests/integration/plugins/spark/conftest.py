"""A folder of files that connectors of the running system read and write with Spark."""

from __future__ import annotations

from pathlib import Path

import pytest
from copycat_testkit.system import CopycatUp

from tests.integration.plugins.spark.lake import Lake


@pytest.fixture
def lake(system: CopycatUp, kafka: str, tmp_path: Path) -> Lake:
    """Give an empty folder."""
    return Lake(system, kafka, tmp_path / "lake")
