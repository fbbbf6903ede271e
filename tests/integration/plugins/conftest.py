"""One schema registry for the converters that need one; one environment to install plugins into."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from copycat_testkit.schema_registry import SchemaRegistry
from copycat_testkit.scratch_environment import ScratchEnvironment, make_scratch_environment


@pytest.fixture(scope="package")
def schema_registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run a registry and give its address."""
    with SchemaRegistry(tmp_path_factory.mktemp("registry")) as registry:
        yield registry.url


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> ScratchEnvironment:
    """Give an environment with all of Copycat, that a module's tests may change."""
    return make_scratch_environment(tmp_path_factory.mktemp("environment"))
