"""One running system for all clients."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from copycat_testkit.system import CopycatUp

from tests.plain_hosts import on_plain_hosts


@pytest.fixture(scope="package")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run Copycat with a broker of its own; gives the root of its REST interface."""
    with CopycatUp(tmp_path_factory.mktemp("clients"), environment=on_plain_hosts()) as up:
        yield up.url
