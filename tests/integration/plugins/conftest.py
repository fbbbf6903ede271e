"""One schema registry for the converters that need one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from copycat_testkit.schema_registry import SchemaRegistry


@pytest.fixture(scope="package")
def schema_registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run a registry and give its address."""
    with SchemaRegistry(tmp_path_factory.mktemp("registry")) as registry:
        yield registry.url
