"""One JVM with Kafka Connect's classes for all differential tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from tests.compat.differential.java_values import JavaValues
from tests.compat.differential.kafka_classes import KafkaClasses, Oracle


@pytest.fixture(scope="package", autouse=True)
def same_cases_in_every_run() -> Iterator[None]:
    """Have Hypothesis draw no constants of ours: which it finds depends on what other tests imported.

    Derandomized cases are then the same whichever tests ran before in this process. There is no public
    setting for it; a version without these names fails here at once.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(providers, "_get_local_constants", Constants)
        providers.CONSTANTS_CACHE.cache.clear()
        yield
    providers.CONSTANTS_CACHE.cache.clear()


@pytest.fixture(scope="package")
def kafka_classes() -> Iterator[KafkaClasses]:
    classes = KafkaClasses()
    yield classes
    classes.close()


@pytest.fixture(scope="package")
def java_values(kafka_classes: KafkaClasses) -> JavaValues:
    return JavaValues(kafka_classes)


@pytest.fixture(scope="package")
def oracle(kafka_classes: KafkaClasses) -> Oracle:
    return Oracle(kafka_classes.jvm)
