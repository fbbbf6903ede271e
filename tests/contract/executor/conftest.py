"""A process that has loaded the plugins, which the tests of a module share."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio
from copycat_executor.children.template import Template

from tests.contract.executor.world import loaded_template


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def template() -> AsyncIterator[Template]:
    """Make the processes of connectors as an executor does for all of its own; it costs most of one."""
    async with loaded_template() as running:
        yield running
