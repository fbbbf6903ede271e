"""One whole system, which most tests here try to harm."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from copycat_testkit.system import CopycatUp

from tests.plain_hosts import on_plain_hosts


@pytest.fixture(scope="package")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CopycatUp]:
    """Run Copycat with a broker of its own."""
    with CopycatUp(tmp_path_factory.mktemp("gateway"), environment=on_plain_hosts()) as up:
        yield up
