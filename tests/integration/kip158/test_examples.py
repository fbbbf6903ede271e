"""KIP-158: the examples of its page, word by word, and on a broker that can hold one copy of a topic."""

from __future__ import annotations

import pytest
from copycat_connect.config.properties import parse_properties
from copycat_connect.config.topic_creation import creation_groups

from tests.integration.emitting.bench import Bench

DEFAULT = """
topic.creation.default.replication.factor=3
topic.creation.default.partitions=5
"""
INORDER = f"""
topic.creation.groups=inorder
{DEFAULT}
topic.creation.inorder.include=status, orders.*
topic.creation.inorder.partitions=1
"""
COMPACTED = rf"""
topic.creation.groups=compacted
{DEFAULT}
topic.creation.compacted.include=key_value_topic, another\\.compacted\\.topic, configurations.*
topic.creation.compacted.replication.factor=5
topic.creation.compacted.partitions=1
topic.creation.compacted.cleanup.policy=compact
"""
PARALLEL = f"""
topic.creation.groups=compacted, highly_parallel
{DEFAULT}
topic.creation.highly_parallel.include=hpc.*,parallel.*
topic.creation.highly_parallel.exclude=.*internal, .*metadata, .*config.*
topic.creation.highly_parallel.replication.factor=1
topic.creation.highly_paralle.partitions=1
topic.creation.compacted.include=configurations.*
topic.creation.compacted.cleanup.policy=compact
"""
SPELLED = PARALLEL.replace("highly_paralle.", "highly_parallel.")
COMPACT = {"cleanup.policy": "compact"}


@pytest.mark.parametrize(
    ("example", "name", "expected"),
    [
        pytest.param(DEFAULT, "anything", (5, 3, {}), id="k158_22 every topic"),
        pytest.param(INORDER, "status", (1, 3, {}), id="k158_23 an exact name"),
        pytest.param(INORDER, "orders1", (1, 3, {}), id="k158_23 a pattern"),
        pytest.param(INORDER, "others", (5, 3, {}), id="k158_23 all else"),
        pytest.param(COMPACTED, "key_value_topic", (1, 5, COMPACT), id="k158_24 an exact name"),
        pytest.param(COMPACTED, "another.compacted.topic", (1, 5, COMPACT), id="k158_24 dots"),
        pytest.param(COMPACTED, "configurations_a", (1, 5, COMPACT), id="k158_24 a pattern"),
        pytest.param(COMPACTED, "anotherXcompactedXtopic", (5, 3, {}), id="k158_24 no dots"),
        pytest.param(PARALLEL, "hpc1", (5, 1, {}), id="k158_25 as misspelt"),
        pytest.param(SPELLED, "hpc2", (1, 1, {}), id="k158_25 as meant"),
        pytest.param(SPELLED, "hpc_internal", (5, 3, {}), id="k158_25 excluded"),
        pytest.param(SPELLED, "configurations_b", (5, 3, COMPACT), id="k158_25 inherited sizes"),
    ],
)
def test_an_example_creates(
    tasks: Bench, example: str, name: str, expected: tuple[int, int, dict[str, str]]
) -> None:
    partitions, copies, configs = expected
    config = parse_properties(example)
    groups = creation_groups(config)
    assert groups is not None
    assert groups.new_topic(name).replication_factor == copies
    one_copy = {key: "1" if key.endswith("replication.factor") else value for key, value in config.items()}

    tasks.run(name, config=one_copy)

    assert tasks.created(name).partitions == partitions
    assert tasks.configs(name) == configs
