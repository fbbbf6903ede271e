"""KIP-158: what the properties of topic creation mean, and the examples of its page, on a real broker."""

from __future__ import annotations

import pytest
from copycat_connect.config import BOOLEAN, LIST, LOW
from copycat_connect.config.framework import SINK_CONNECTOR, SOURCE_CONNECTOR
from copycat_connect.config.properties import parse_properties
from copycat_connect.config.topic_creation import creation_groups
from copycat_connect.errors import ConfigError
from copycat_executor.settings import OF_CHILDREN
from copycat_testkit.kafka import unique

from tests.integration.emitting.bench import CREATION_DEFAULTS, Bench, Topic, creation
from tests.integration.kip158.conftest import BROKER_PARTITIONS

TOO_FEW_BROKERS = (
    "Replication factor must be positive and not larger than the number of brokers in the Kafka cluster, "
    "or -1 to use the broker's default"
)


def test_k158_01_k158_x5_the_worker_has_a_switch_that_is_on_by_default() -> None:
    key = OF_CHILDREN.keys["topic.creation.enable"]

    assert (key.type, key.importance, key.default) == (BOOLEAN, LOW, True)
    with pytest.raises(ConfigError, match=r"topic\.creation\.enable"):
        OF_CHILDREN.parse({"topic.creation.enable": "perhaps"})


def test_k158_06_no_key_of_a_connector_switches_creation() -> None:
    assert not [key for key in SOURCE_CONNECTOR.keys if key.startswith("topic.creation") and "enable" in key]
    assert not [key for key in SINK_CONNECTOR.keys if key.startswith("topic.creation")]


def test_k158_07_groups_are_a_list_without_duplicates_empty_by_default() -> None:
    key = SOURCE_CONNECTOR.keys["topic.creation.groups"]
    found = SOURCE_CONNECTOR.validate({"topic.creation.groups": "a,b,a"})
    errors = next(each.errors for each in found if each.name == key.name)

    assert (key.type, key.default, key.group) == (LIST, [], "Topic Creation")
    assert len(errors) == 1


def test_k158_09_a_group_is_for_topics_that_match_as_a_whole(tasks: Bench) -> None:
    orders = unique("orders")
    exact = creation(groups="exact, open", exact__include=orders, exact__partitions="1")
    config = {**exact, "topic.creation.open.include": f"{orders}3.*", "topic.creation.open.partitions": "2"}

    tasks.run(orders, f"{orders}2", f"{orders}34", config=config)

    assert tasks.created(orders).partitions == 1
    assert tasks.created(f"{orders}2").partitions == 3
    assert tasks.created(f"{orders}34").partitions == 2


def test_k158_09_a_listed_group_must_say_what_it_is_for(tasks: Bench) -> None:
    ref = tasks.run(unique("never"), config=creation(groups="a"))

    assert 'Missing required configuration "topic.creation.a.include"' in tasks.trace(ref)


def test_k158_10_exclude_overrides_include_and_the_next_group_is_tried(tasks: Bench) -> None:
    name = unique("both")
    config = creation(
        groups="first, second",
        first__include="both.*",
        first__exclude="nothing, both.*",
        first__partitions="1",
        second__include="both.*",
        second__partitions="2",
    )

    tasks.run(name, config=config)

    assert tasks.created(name).partitions == 2


@pytest.mark.parametrize(
    ("include", "name", "hit"),
    [
        pytest.param(r"a\.literal\.dot-.*", "a.literal.dot-1", True, id="an escaped dot is a dot"),
        pytest.param(r"a\.literal\.dot-.*", "aXliteralXdot-1", False, id="an escaped dot is nothing else"),
        pytest.param(r" x-none ,  blank-.* ", "blank-1", True, id="blanks around commas are dropped"),
        pytest.param(r"posix-\p{Alpha}++", "posix-abc", True, id="possessive and POSIX classes of Java"),
        pytest.param(r"(?<word>q[a-z])-\k<word>", "qu-qu", True, id="named groups of Java"),
        pytest.param(r"cut-[a-z&&[^b]]+", "cut-ac", True, id="classes of Java, intersected"),
        pytest.param(r"\Qw.x\E-.*", "w.x-1", True, id="quoted text of Java"),
    ],
)
def test_k158_12_expressions_are_javas(tasks: Bench, include: str, name: str, hit: bool) -> None:
    tasks.run(name, config=creation(groups="g", g__include=include, g__partitions="1"))

    assert tasks.created(name).partitions == (1 if hit else 3)


def test_k158_12_an_expression_without_counterpart_is_refused_with_its_key(tasks: Bench) -> None:
    ref = tasks.run(unique("never"), config=creation(groups="g", g__include=r"\p{IsKlingon}+"))

    trace = tasks.trace(ref)
    assert "topic.creation.g.include" in trace
    assert "Unknown character property name {IsKlingon}" in trace


@pytest.mark.parametrize("value", ["0", "-2"])
@pytest.mark.parametrize(
    ("what", "reason"),
    [
        pytest.param("replication.factor", TOO_FEW_BROKERS, id="k158_13"),
        pytest.param(
            "partitions",
            "Number of partitions must be positive, or -1 to use the broker's default",
            id="k158_14",
        ),
    ],
)
def test_sizes_are_positive_or_minus_one(tasks: Bench, what: str, reason: str, value: str) -> None:
    key = f"topic.creation.default.{what}"

    ref = tasks.run(unique("never"), config={**CREATION_DEFAULTS, key: value})

    assert f"Invalid value {value} for configuration {key}: {reason}" in tasks.trace(ref)


@pytest.mark.parametrize(
    "what", [pytest.param("replication.factor", id="k158_13"), pytest.param("partitions", id="k158_14")]
)
def test_the_default_group_must_say_each_size(tasks: Bench, what: str) -> None:
    key = f"topic.creation.default.{what}"

    ref = tasks.run(
        unique("never"), config={each: CREATION_DEFAULTS[each] for each in CREATION_DEFAULTS if each != key}
    )

    assert f'Missing required configuration "{key}"' in tasks.trace(ref)


@pytest.mark.parametrize("row", ["k158_13", "k158_14"])
def test_a_group_inherits_the_sizes_it_does_not_say(tasks: Bench, row: str) -> None:
    name = unique(row)

    tasks.run(name, config=creation(groups="g", g__include="k158.*", g__cleanup_policy="compact"))

    assert tasks.created(name) == Topic(partitions=3, replication_factor=1)


def test_k158_15_minus_one_is_the_brokers_default_for_each_size(tasks: Bench) -> None:
    wide, copied = unique("wide"), unique("copied")

    tasks.run(wide, config=creation(default__partitions="-1"))
    tasks.run(copied, config=creation(default__replication_factor="-1"))

    assert tasks.created(wide) == Topic(BROKER_PARTITIONS, 1)
    assert tasks.created(copied) == Topic(3, 1)


def test_k158_17_any_topic_setting_reaches_the_topic(tasks: Bench) -> None:
    name = unique("settings")
    settings = {
        "cleanup.policy": "compact",
        "min.insync.replicas": "1",
        "retention.ms": "86400000",
        "unclean.leader.election.enable": "true",
    }

    tasks.run(
        name, config=CREATION_DEFAULTS | {f"topic.creation.default.{key}": settings[key] for key in settings}
    )

    tasks.created(name)
    assert tasks.configs(name) == settings


def test_k158_18_a_setting_the_broker_refuses_fails_the_task_with_its_text(tasks: Bench) -> None:
    name = unique("refused")

    ref = tasks.run(name, config={**CREATION_DEFAULTS, "topic.creation.default.no.such.thing": "1"})

    trace = tasks.trace(ref)
    assert "Unknown topic config name: no.such.thing" in trace
    assert f"Task failed to create new topic {name}" in trace
    assert tasks.described(name) is None


def test_k158_19_the_list_of_groups_is_the_order_and_that_of_properties_nothing(tasks: Bench) -> None:
    config = creation(
        groups="one, two", one__include="o.*", one__partitions="1", two__include="o.*", two__partitions="2"
    )
    as_listed, turned, swapped = unique("o1"), unique("o2"), unique("o3")

    tasks.run(as_listed, config=config)
    tasks.run(turned, config=dict(reversed(config.items())))
    tasks.run(swapped, config={**config, "topic.creation.groups": "two, one"})

    assert tasks.created(as_listed).partitions == 1
    assert tasks.created(turned).partitions == 1
    assert tasks.created(swapped).partitions == 2


LAYERED = creation(
    groups="compacted, wide",
    compacted__include="l.*",
    compacted__cleanup_policy="compact",
    wide__include="l.*",
    wide__partitions="2",
    default__retention_ms="86400000",
)


def test_k158_20_a_topic_takes_sizes_from_default_and_all_else_from_its_group(tasks: Bench) -> None:
    name = unique("layers")

    tasks.run(name, config=LAYERED)

    assert tasks.created(name) == Topic(3, 1)
    assert tasks.configs(name) == {"cleanup.policy": "compact"}


def test_k158_20_strictly_a_topic_takes_what_its_group_lacks_from_lower_ones(tasks: Bench) -> None:
    name = unique("layers")

    tasks.run(name, config=LAYERED, worker={"kip.strict": "true"})

    assert tasks.created(name) == Topic(2, 1)
    assert tasks.configs(name) == {"cleanup.policy": "compact", "retention.ms": "86400000"}


DEFAULT_EXAMPLE = """
topic.creation.default.replication.factor=3
topic.creation.default.partitions=5
"""
INORDER = f"""
topic.creation.groups=inorder
{DEFAULT_EXAMPLE}
topic.creation.inorder.include=status, orders.*
topic.creation.inorder.partitions=1
"""
COMPACTED = rf"""
topic.creation.groups=compacted
{DEFAULT_EXAMPLE}
topic.creation.compacted.include=key_value_topic, another\\.compacted\\.topic, configurations.*
topic.creation.compacted.replication.factor=5
topic.creation.compacted.partitions=1
topic.creation.compacted.cleanup.policy=compact
"""
PARALLEL = f"""
topic.creation.groups=compacted, highly_parallel
{DEFAULT_EXAMPLE}
topic.creation.highly_parallel.include=hpc.*,parallel.*
topic.creation.highly_parallel.exclude=.*internal, .*metadata, .*config.*
topic.creation.highly_parallel.replication.factor=1
topic.creation.highly_paralle.partitions=1
topic.creation.compacted.include=configurations.*
topic.creation.compacted.cleanup.policy=compact
"""
SPELLED = PARALLEL.replace("highly_paralle.", "highly_parallel.")
COMPACT = {"cleanup.policy": "compact"}


@pytest.mark.long
@pytest.mark.parametrize(
    ("example", "name", "expected"),
    [
        pytest.param(DEFAULT_EXAMPLE, "anything", (5, 3, {}), id="k158_22 every topic"),
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
