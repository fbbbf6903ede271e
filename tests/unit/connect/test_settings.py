"""Settings classes: each field is a key, in validation, in parsing and in what is shown."""

from __future__ import annotations

from enum import Enum
from zoneinfo import ZoneInfo

import pytest
from copycat_connect.config import (
    HIGH,
    INT,
    LONG,
    LOW,
    MEDIUM,
    STRING,
    ConfigDef,
    ConfigKey,
    at_least,
    non_empty,
)
from copycat_connect.config.setting import Password
from copycat_connect.config.settings import Settings, key, nested, shared_key, taken_from
from copycat_connect.config.validators import one_of
from copycat_connect.errors import ConfigError
from copycat_connect.plugin.converters import ConverterSettings

SHARED = ConfigKey("batch.size", INT, LOW, default=5, validator=at_least(1), doc="Records at once.")


class Mode(Enum):
    INSERT = "insert"
    UPSERT = "upsert"


class Base(Settings):
    topic: str = key(HIGH, check=non_empty, doc="The topic.")


class Example(Base):
    """Says something of everything that can be declared."""

    records_per_second: int = key(HIGH, default=10, check=at_least(1), doc="The rate.")
    mode: Mode = key(MEDIUM, name="insert.mode", default="insert", doc="What becomes of a record.")
    wait: int = key(LOW, name="wait.ms", type=LONG, default=0, doc="Milliseconds.")
    zone: ZoneInfo = key(LOW, name="db.timezone", type=STRING, default="UTC", read=ZoneInfo, doc="Zone.")
    fields: tuple[str, ...] = key(LOW, default=[], doc="Fields.")
    kinds: frozenset[str] = key(LOW, default="a,b", doc="Kinds.")
    password: Password | None = key(LOW, default=None, doc="The password.")
    end: int | None = key(LOW, default=None, doc="The last one.")
    other: Mode | None = key(LOW, default=None, doc="Another mode.")
    batch_size: int = shared_key(SHARED)
    connector: str = taken_from(lambda config: config.get("name", ""))


def test_the_definition_is_what_would_be_written_by_hand() -> None:
    by_hand = ConfigDef(
        ConfigKey("topic", STRING, HIGH, validator=non_empty, doc="The topic."),
        ConfigKey("records.per.second", INT, HIGH, default=10, validator=at_least(1), doc="The rate."),
        ConfigKey(
            "insert.mode", STRING, MEDIUM, default="insert", validator=one_of("insert", "upsert"),
            doc="What becomes of a record.",
        ),
    )  # fmt: skip
    shown = list(Example.config_def().keys.values())
    for mine, its in zip(shown[:3], by_hand.keys.values(), strict=True):
        assert (mine.name, mine.type, mine.importance, mine.default, mine.doc, mine.display_name) == (
            its.name, its.type, its.importance, its.default, its.doc, its.display_name,
        )  # fmt: skip
    wrong = {"topic": "", "records.per.second": "0", "insert.mode": "delete"}
    assert [each.errors for each in Example.config_def().validate(wrong)[:3]] == [
        each.errors for each in by_hand.validate(wrong)
    ]
    assert [each.name for each in shown][-1] == "batch.size"


def test_fields_hold_parsed_values_and_defaults() -> None:
    settings = Example.parse(
        {"topic": "t", "name": "c", "insert.mode": "upsert", "fields": "a, b", "password": "p"}
    )
    assert (settings.topic, settings.connector, settings.mode) == ("t", "c", Mode.UPSERT)
    assert (settings.fields, settings.kinds, settings.zone) == (("a", "b"), frozenset("ab"), ZoneInfo("UTC"))
    assert (settings.end, settings.other, settings.batch_size, settings.wait) == (None, None, 5, 0)
    assert settings.password == Password("p")
    assert "password=p" not in repr(settings)


def test_values_are_there_by_the_names_of_their_keys() -> None:
    values = Example.parse({"topic": "t", "insert.mode": "upsert", "wait.ms": "3"}).values_by_key()
    assert list(values) == list(Example.config_def().keys)
    assert (values["topic"], values["insert.mode"], values["wait.ms"]) == ("t", Mode.UPSERT, 3)


def test_what_is_missing_or_wrong_is_refused_with_its_key() -> None:
    with pytest.raises(ConfigError, match='Missing required configuration "topic"'):
        Example.parse({})
    with pytest.raises(ConfigError, match=r"insert\.mode: String must be one of: insert, upsert"):
        Example.parse({"topic": "t", "insert.mode": "delete"})
    with pytest.raises(ConfigError, match=r"other: String must be one of: insert, upsert"):
        Example.parse({"topic": "t", "other": "delete"})


def test_a_subclass_leaves_the_keys_of_its_base_alone() -> None:
    assert list(Base.config_def().keys) == ["topic"]
    assert Base.parse({"topic": "t", "batch.size": "none"}).topic == "t"


def test_nested_settings_have_their_keys_in_the_place_of_the_field() -> None:
    class Outer(Settings):
        first: int = key(LOW, default=1, doc="Before.")
        inner: Example = nested()
        last: int = key(LOW, default=2, doc="Behind.")

    assert list(Outer.config_def().keys) == ["first", *Example.config_def().keys, "last"]
    settings = Outer.parse({"topic": "t", "last": "3", "wait.ms": "4", "name": "c"})
    assert settings.inner == Example.parse({"topic": "t", "wait.ms": "4", "name": "c"})
    assert settings.values_by_key() == {"first": 1, **settings.inner.values_by_key(), "last": 3}
    with pytest.raises(ConfigError, match='Missing required configuration "topic"'):
        Outer.parse({})


def test_an_annotation_that_says_no_type_is_refused() -> None:
    class Unclear(Settings):
        zone: ZoneInfo = key(LOW, default="UTC", doc="Zone.")

    with pytest.raises(TypeError, match="say with type="):
        Unclear.config_def()


def test_a_converter_converts_values_unless_it_is_told_otherwise() -> None:
    assert ConverterSettings.of({}, is_key=False).converter_type == "value"
    assert ConverterSettings.of({}, is_key=True).converter_type == "key"
    assert ConverterSettings.of({"converter.type": "header"}, is_key=False).converter_type == "header"
