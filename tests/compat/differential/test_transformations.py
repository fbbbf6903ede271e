"""Transformations and predicates beside Kafka Connect's own classes, on generated and on recorded records."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.compat.differential.configurations import CONFIGURATIONS, TRANSFORMS
from tests.compat.differential.differences import surprise
from tests.compat.differential.generated import cases
from tests.compat.differential.kafka_classes import KafkaClasses, comparable
from tests.unit.plugins.answers import KINDS, PLUGINS, answer_to
from tests.unit.plugins.test_transformations import RECORDED


def test_every_transformation_and_predicate_of_kafka_connect_is_compared() -> None:
    ours = {spec.class_name for spec in PLUGINS.all() if spec.kind in KINDS}
    assert set(CONFIGURATIONS) == {name for name in ours if name.startswith(TRANSFORMS)}


@pytest.mark.parametrize("name", sorted(CONFIGURATIONS), ids=lambda name: name.rpartition(".")[2])
def test_generated_records_come_out_as_from_kafka_connect(name: str, kafka_classes: KafkaClasses) -> None:
    @settings(
        max_examples=60,
        derandomize=True,
        deadline=None,
        database=None,
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=list(HealthCheck),
    )
    @given(cases(name, CONFIGURATIONS[name]))
    def compare(case: dict[str, Any]) -> None:
        found = surprise(comparable(kafka_classes.answer(case)), comparable(answer_to(case)))
        assert found is None, found

    compare()


def test_recorded_records_come_out_as_from_kafka_connect(kafka_classes: KafkaClasses) -> None:
    for case in RECORDED:
        java, ours = comparable(kafka_classes.answer(case)), comparable(answer_to(case))
        if "error" in java and "!!" in ours.values():
            continue  # the envelope cannot take the value that the transformation left under a wrong schema
        found = surprise(java, ours)
        assert found is None, f"{case}\n{found}"
