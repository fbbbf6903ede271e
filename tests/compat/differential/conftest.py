"""One JVM with Kafka Connect's classes for all differential tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.compat.differential.java_values import JavaValues
from tests.compat.differential.kafka_classes import KafkaClasses
from tests.compat.differential.oracle import Oracle


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
