"""The Java that Spark runs on, found as the launcher finds it: it may come from a wheel."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from copycat_embedded.spark_java import spark_java_home


@pytest.fixture(scope="package", autouse=True)
def java_home() -> Iterator[None]:
    """Name it in the environment of these tests and of the processes they start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_HOME", str(spark_java_home()))
        yield
