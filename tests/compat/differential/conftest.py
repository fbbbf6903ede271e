"""One JVM with Kafka Connect's classes for all differential tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.compat.differential.kafka_classes import KafkaClasses


@pytest.fixture(scope="package")
def kafka_classes() -> Iterator[KafkaClasses]:
    classes = KafkaClasses()
    yield classes
    classes.close()
