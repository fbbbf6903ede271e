"""The source that makes records up: the same seed gives the same records, stopped or split as it may be."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from copycat_connect.data import SourceRecord, Struct
from copycat_connect.errors import ConfigError, ConnectError
from copycat_connect.plugin import ExactlyOnceSupport, OffsetEffect, OffsetMove
from copycat_plugins.connectors.datagen_source.connector import DatagenSourceConnector, DatagenSourceTask
from copycat_testkit.conformance import FakeSourceContext

ALL = [
    {"name": "id", "type": "sequence"},
    {"name": "age", "type": "integer", "min": 18, "max": 21},
    {"name": "ratio", "type": "double", "min": -1, "max": 1},
    {"name": "on", "type": "choice", "options": [True, False]},
    {"name": "code", "type": "text", "pattern": "100% ##-?? {id}"},
    {"name": "at", "type": "timestamp", "start": "2026-03-01T00:00:00+01:00", "step.ms": 500},
    {"name": "key", "type": "uuid"},
    {"name": "at_home", "type": "struct", "fields": [{"name": "age", "type": "integer", "min": 0, "max": 9}]},
]
END = 7000
FIRST_OF_42 = (
    "Struct{id=0,age=18,ratio=0.835802357148413,on=true,code=100% 61-ar 0,at=Sat Feb 28 23:00:00 UTC 2026,"
    "key=bf807208-e5e2-405f-9c0d-26afef7a65fc,at_home=Struct{age=4}}"
)


def config_of(fields: Any = ALL, **more: str) -> dict[str, str]:
    named = {key.replace("_", "."): value for key, value in more.items()}
    end = {"max.records": str(END), "throughput": "-1"}
    return {"topic": "t", "fields": json.dumps(fields), **end, **named}


def records_of(
    config: Mapping[str, str], tasks: int = 1, offsets: Mapping[int, int] | None = None
) -> list[SourceRecord]:
    """Return all records of all tasks, each of which goes on from the offsets of its streams."""
    connector = DatagenSourceConnector()
    connector.start(config)
    found: list[SourceRecord] = []
    for each in connector.task_configs(tasks):
        context = FakeSourceContext(each)
        context.stopping.set()
        for stream, following in (offsets or {}).items():
            context.store({"stream": stream, "streams": int(config.get("streams", "1"))}, {"next": following})
        task = DatagenSourceTask()
        task.initialize(context)
        task.start(each)
        while batch := task.poll():
            found.extend(batch)
    return found


def values_of(*arguments: Any, **more: Any) -> list[Struct]:
    return [record.value for record in records_of(*arguments, **more)]


def test_every_kind_of_field_keeps_to_its_description() -> None:
    values = values_of(config_of())
    assert [value.get("id") for value in values] == list(range(END))
    for value in values:
        value.validate()
        assert -1 <= value.get("ratio") <= 1
    assert Counter(value.get("age") for value in values).keys() == {18, 19, 20, 21}
    assert {value.get("at_home").get("age") for value in values} == set(range(10))
    assert 3000 < sum(value.get("on") for value in values) < 4000
    assert values[-1].get("at") == datetime.fromtimestamp(1772319600 + (END - 1) / 2, UTC)
    assert {UUID(value.get("key")).version for value in values} == {4}
    assert len({value.get("key") for value in values}) == END


def test_a_pattern_has_digits_letters_and_earlier_fields() -> None:
    percent, code, number = values_of(config_of())[41].get("code").split(" ")
    digits, letters = code.split("-")
    assert (percent, number, len(code)) == ("100%", "41", 5)
    assert digits.isdecimal()
    assert letters.isalpha()
    assert letters.islower()


def test_a_seed_gives_the_same_records_on_every_machine() -> None:
    """The values are written down: a change of them would break runs that are to be repeated."""
    first = values_of(config_of(seed="42", max_records="1"))[0]
    assert str(first) == FIRST_OF_42
    assert values_of(config_of(seed="42")) == values_of(config_of(seed="42"))
    assert values_of(config_of(seed="43", max_records="1"))[0] != first


@pytest.mark.parametrize(("streams", "tasks"), [("2", 1), ("3", 2), ("4", 8)])
def test_streams_share_the_same_records_without_a_gap(streams: str, tasks: int) -> None:
    shared = values_of(config_of(streams=streams), tasks)
    assert sorted(shared, key=lambda value: value.get("id")) == values_of(config_of())


def test_it_goes_on_at_any_offset_of_any_stream() -> None:
    config = config_of(streams="2", batch_size="700")
    whole = records_of(config)
    for stream in (0, 1):
        own = [record for record in whole if (record.source_partition or {})["stream"] == stream]
        for place in (0, 699, 700, 1999, 2000):
            following = (own[place].source_offset or {})["next"]
            at_the_end = {1 - stream: 8000 + 2000 * (1 - stream)}
            again = records_of(config, offsets={stream: following, **at_the_end})
            assert [each.value for each in again] == [each.value for each in own[place + 1 :]]


def test_a_key_is_one_of_the_fields() -> None:
    record = records_of(config_of(key_field="code"))[5]
    assert record.key == record.value.get("code")
    assert record.key_schema == record.value.schema.field("code").schema
    with pytest.raises(ConfigError, match=r"key\.field.*one of the fields: id, age"):
        records_of(config_of(key_field="codes"))
    wrong = DatagenSourceConnector().validate(config_of(key_field="codes"))
    assert [value.name for value in wrong or () if value.errors] == ["key.field"]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ([], "at least one"),
        ({"name": "x"}, "at least one"),
        ([1], "field 1 must be an object"),
        ([{"name": "x", "type": "numbers"}], r"field x\): type must be one of sequence"),
        ([{"name": "x", "type": "uuid", "min": 1}], "uuid takes nothing more, not min"),
        ([{"name": "x", "type": "integer", "min": 1}], "integer needs max"),
        ([{"name": "x", "type": "integer", "min": 2, "max": 1}], "max must not be below min"),
        ([{"name": "x", "type": "integer", "min": True, "max": 1}], "min must be an integer"),
        ([{"name": "x", "type": "integer", "min": 0, "max": 2**63}], "max must be an integer of 64 bits"),
        ([{"name": "x", "type": "double", "min": "a", "max": 1}], "min must be a number"),
        ([{"name": "x", "type": "choice", "options": []}], "at least one value"),
        ([{"name": "x", "type": "choice", "options": [1, "a"]}], "must all be"),
        ([{"name": "x", "type": "text", "pattern": "{y}"}], "no field before this one"),
        ([{"name": "x", "type": "text", "pattern": "a{y"}], "brace without its other one at character 2"),
        ([{"name": "x", "type": "timestamp", "start": "noon"}], "start must be a time such as"),
        ([{"name": "x", "type": "timestamp", "step.ms": 2**60}], "years 1 to 9999"),
        ([{"name": "x", "type": "uuid"}, {"name": "x", "type": "uuid"}], "two fields of this name"),
        ([{"name": "x", "type": "struct", "fields": [{"name": "y", "type": "z"}]}], r"field x\.y"),
    ],
)
def test_a_wrong_description_is_refused_with_the_fields_name(fields: Any, text: str) -> None:
    with pytest.raises(ConfigError, match=text) as raised:
        records_of(config_of(fields))
    assert "configuration fields" in str(raised.value)


def test_a_description_that_is_no_json_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"no JSON.*write for example"):
        records_of({"topic": "t", "fields": "id"})


@pytest.mark.parametrize(
    ("partition", "offset"),
    [
        (None, {"next": 0}),
        ({"stream": 0}, {"next": 0}),
        ({"stream": 2, "streams": 2}, {"next": 0}),
        ({"stream": 0, "streams": 3}, {"next": 0}),
        ({"stream": 0, "streams": 2}, {}),
        ({"stream": 0, "streams": 2}, {"next": "1"}),
        ({"stream": 0, "streams": 2}, {"next": -1}),
        ({"stream": 0, "streams": 2}, {"next": 2000}),
    ],
)
def test_offsets_that_are_none_of_a_stream_are_refused(partition: Any, offset: Any) -> None:
    with pytest.raises(ConnectError, match=r"A source partition|A source offset|is not of stream 0 of 2"):
        DatagenSourceConnector().alter_offsets(config_of(streams="2"), [(partition, offset)])


def test_offsets_of_a_stream_are_taken() -> None:
    connector = DatagenSourceConnector()
    moves: Any = [({"stream": 1, "streams": 2}, {"next": 2000}), ({"stream": 9}, None)]
    assert connector.alter_offsets(config_of(streams="2"), moves)
    assert connector.exactly_once_support({}) is ExactlyOnceSupport.SUPPORTED


@pytest.mark.parametrize(
    ("before", "after", "effect"),
    [
        ({"next": 2000}, {"next": 2500}, OffsetEffect(0, 500)),
        ({"next": 6001}, {"next": 2000}, OffsetEffect(2001, 0)),
        (None, {"next": 6000}, OffsetEffect(0, 2000)),
        ({"next": 6000}, None, OffsetEffect(2000, 0)),
        ({"next": 2000}, {"next": 10000}, OffsetEffect(0, 2100)),  # there are no more: max.records
        ({"next": 2000}, {"next": 1}, None),
    ],
)
def test_a_move_is_told_in_numbers_of_its_stream(
    before: Any, after: Any, effect: OffsetEffect | None
) -> None:
    config = config_of(**{"streams": "2", "max.records": "6100"})
    move = OffsetMove({"stream": 1, "streams": 2}, before, after)
    assert DatagenSourceConnector().explain_offsets(config, [move]) == [effect]
    elsewhere = OffsetMove({"stream": 1, "streams": 3}, before, after)
    assert DatagenSourceConnector().explain_offsets(config, [elsewhere]) == [None]
