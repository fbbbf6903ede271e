"""ConnectorValidationIntegrationTest: how many errors Kafka Connect counts in bad configurations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pytest

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.monitors import SOURCE
from tests.integration.scenarios.validation import SINK_CONFIG, SOURCE_CONFIG, WITHOUT, errors

pytestmark = pytest.mark.timeout(300)

Rows = Mapping[str, tuple[Mapping[str, str], int]]

SINKS: Final[Rows] = {
    "sink_connector_has_neither_topics_list_nor_topics_regex": ({"topics": WITHOUT}, 2),
    "sink_connector_has_both_topics_list_and_topics_regex": ({"topics.regex": "r.*"}, 2),
    "sink_connector_dead_letter_queue_topic_in_topics_list": (
        {"topics": "t1,t2,dlq", "errors.deadletterqueue.topic.name": "dlq"},
        1,
    ),
    "sink_connector_dead_letter_queue_topic_matches_topics_regex": (
        {"topics": WITHOUT, "topics.regex": "d.*", "errors.deadletterqueue.topic.name": "dlq"},
        1,
    ),
}
SOURCES: Final[Rows] = {
    "source_connector_has_duplicate_topic_creation_groups": (
        {
            "topic.creation.groups": "g,g",
            "topic.creation.g.include": "t",
            "topic.creation.default.partitions": "1",
            "topic.creation.default.replication.factor": "1",
        },
        1,
    ),
    "connector_has_duplicate_transformations": (
        {"transforms": "t,t", "transforms.t.type": "Filter"},
        1,
    ),
    "connector_has_missing_transform_class": (
        {"transforms": "t", "transforms.t.type": "no.such.Transform"},
        1,
    ),
    "connector_has_invalid_transform_class": ({"transforms": "t", "transforms.t.type": SOURCE}, 1),
    "connector_has_negation_for_undefined_predicate": (
        {"transforms": "t", "transforms.t.type": "Filter", "transforms.t.negate": "true"},
        1,
    ),
    "connector_has_duplicate_predicates": (
        {"predicates": "p,p", "predicates.p.type": "RecordIsTombstone"},
        1,
    ),
    "connector_has_missing_predicate_class": (
        {"predicates": "p", "predicates.p.type": "no.such.Predicate"},
        1,
    ),
    "connector_has_invalid_predicate_class": ({"predicates": "p", "predicates.p.type": SOURCE}, 1),
}


def converters(word: str, key: str, suffix: str) -> Rows:
    """Return the rows about a kind of converters."""
    return {
        f"connector_has_missing_{word}_class": ({key: "no.such.Converter"}, 1),
        f"connector_has_invalid_{word}_class_type": ({key: SOURCE}, 1),
        f"connector_has_abstract_{word}": ({key: f"awkward.Abstract{suffix}"}, 1),
        f"connector_has_{word}_with_no_suitable_constructor": ({key: f"awkward.Demanding{suffix}"}, 1),
        f"connector_has_{word}_that_throws_exception_on_instantiation": (
            {key: f"awkward.Failing{suffix}"},
            1,
        ),
        f"connector_has_misconfigured_{word}": (
            {key: f"awkward.Needy{suffix}", f"{key}.needed": "perhaps"},
            1,
        ),
        f"connector_has_{word}_with_no_config_def": ({key: f"awkward.Plain{suffix}"}, 0),
    }


CONVERTERS: Final[Rows] = {
    **converters("converter", "value.converter", "Converter"),
    **converters("header_converter", "header.converter", "HeaderConverter"),
}


@pytest.mark.parametrize("row", SINKS)
def test_connector_validation_of_sinks(cluster: Cluster, row: str) -> None:
    change, count = SINKS[row]

    assert errors(cluster, {**SINK_CONFIG, **change}) == count


@pytest.mark.parametrize("row", [*SOURCES, *CONVERTERS])
def test_connector_validation(cluster: Cluster, row: str) -> None:
    change, count = {**SOURCES, **CONVERTERS}[row]

    assert errors(cluster, {**SOURCE_CONFIG, **change}) == count
