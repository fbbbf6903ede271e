"""ConfigDef and settings classes: parsing and validation with Kafka's texts, names that are allowed."""

from __future__ import annotations

import re
from contextlib import suppress
from enum import Enum
from zoneinfo import ZoneInfo

import pytest
from copycat_connect.config import (
    BOOLEAN,
    CLASS,
    DOUBLE,
    HIGH,
    INT,
    LIST,
    LONG,
    LOW,
    MEDIUM,
    PASSWORD,
    SHORT,
    STRING,
    ConfigDef,
    ConfigKey,
    ConfigValue,
    at_least,
    between,
    file_name,
    non_empty,
    one_of,
    one_of_ignoring_case,
    topic_name,
    topic_prefix,
)
from copycat_connect.config.parsing import parse_type, setting_to_string
from copycat_connect.config.setting import Password, Type
from copycat_connect.config.settings import Settings, key, nested, shared_key, taken_from
from copycat_connect.config.validators import topic_names, usable_name
from copycat_connect.errors import ConfigError
from copycat_connect.plugin.converters import ConverterSettings
from hypothesis import given
from hypothesis import strategies as st

DEFINITION = ConfigDef(
    ConfigKey("topic", STRING, HIGH, validator=non_empty),
    ConfigKey("size", INT, LOW, default=10, validator=between(1, 100)),
    ConfigKey("names", LIST, MEDIUM, default=""),
)


def errors_of(found: list[ConfigValue]) -> dict[str, list[str]]:
    return {value.name: value.errors for value in found if value.errors}


def test_values_are_parsed_and_defaults_filled_in() -> None:
    assert DEFINITION.parse({"topic": " t ", "names": "a , b,c"}) == {
        "topic": "t",
        "size": 10,
        "names": ["a", "b", "c"],
    }


def test_keys_that_are_not_defined_are_left_out() -> None:
    assert "other" not in DEFINITION.parse({"topic": "t", "other": "x"})


def test_a_missing_required_key_is_refused() -> None:
    with pytest.raises(ConfigError, match='configuration "topic" which has no default value'):
        DEFINITION.parse({})


def test_validation_finds_every_error() -> None:
    found = errors_of(DEFINITION.validate({"size": "0", "topic": ""}))
    assert found == {
        "topic": ["Invalid value  for configuration topic: String must be non-empty"],
        "size": ["Invalid value 0 for configuration size: Value must be at least 1"],
    }


def test_a_ranged_key_that_cannot_be_parsed_has_two_errors() -> None:
    found = errors_of(DEFINITION.validate({"size": "many", "topic": "t"}))
    assert found["size"] == [
        "Invalid value many for configuration size: Not a number of type INT",
        "Invalid value null for configuration size: Value must be non-null",
    ]


def test_a_default_must_pass_its_validator() -> None:
    with pytest.raises(ConfigError, match="Value must be at least 1"):
        ConfigKey("size", INT, LOW, default=0, validator=at_least(1))


def test_a_key_cannot_be_defined_twice() -> None:
    with pytest.raises(ConfigError, match="Configuration a is defined twice"):
        ConfigDef(ConfigKey("a", INT, LOW), ConfigKey("a", INT, LOW))


@pytest.mark.parametrize(
    ("type_", "text", "value"),
    [
        (BOOLEAN, "TRUE", True),
        (BOOLEAN, " false ", False),
        (INT, "+7", 7),
        (SHORT, "-32768", -32768),
        (LONG, "9223372036854775807", 2**63 - 1),
        (DOUBLE, "1e3", 1000.0),
        (DOUBLE, "9" * 5_000, float("inf")),
        (INT, "-" + "0" * 5_000 + "7", -7),
        (LONG, "-9223372036854775808", -(2**63)),
        (LIST, "", []),
        (LIST, "a,,b", ["a", "", "b"]),
        (PASSWORD, "secret", Password("secret")),
        (CLASS, "any.Class", "any.Class"),
    ],
)
def test_text_is_parsed_to_its_type(type_: Type, text: str, value: object) -> None:
    assert parse_type("k", text, type_) == value


@pytest.mark.parametrize(
    ("type_", "text", "reason"),
    [
        (BOOLEAN, "yes", "Expected value to be either true or false"),
        (INT, "2147483648", "Not a number of type INT"),
        (SHORT, "1.0", "Not a number of type SHORT"),
        (LONG, "1_000", "Not a number of type LONG"),
        (DOUBLE, "x", "Not a number of type DOUBLE"),
        (INT, "9" * 5_000, "Not a number of type INT"),
        (SHORT, "-" + "9" * 5_000, "Not a number of type SHORT"),
        (LONG, "1" + "0" * 5_000, "Not a number of type LONG"),
        (INT, "²", "Not a number of type INT"),
        (INT, "+", "Not a number of type INT"),
    ],
)
def test_text_of_another_type_is_refused(type_: Type, text: str, reason: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_type("k", text, type_)
    assert refused.value.message == f"Invalid value {text} for configuration k: {reason}"


def test_a_class_that_is_not_installed_is_refused() -> None:
    with pytest.raises(ConfigError, match="Class Nope could not be found"):
        parse_type("k", "Nope", CLASS, {"Json": "a.JsonConverter"}.get)


def test_a_class_alias_becomes_its_class() -> None:
    assert parse_type("k", "Json", CLASS, {"Json": "a.JsonConverter"}.get) == "a.JsonConverter"


@pytest.mark.parametrize(
    ("value", "type_", "text"),
    [
        (None, STRING, None),
        (["a", "b"], LIST, "a,b"),
        (True, BOOLEAN, "true"),
        (1e10, DOUBLE, "1.0E10"),
        (Password("x"), PASSWORD, "[hidden]"),
    ],
)
def test_values_are_shown_as_rest_shows_them(value: object, type_: Type, text: str | None) -> None:
    assert setting_to_string(value, type_) == text


def test_a_password_does_not_show_in_its_repr() -> None:
    assert "secret" not in repr(Password("secret"))


def test_choices_are_exact_unless_case_is_ignored() -> None:
    one_of_ignoring_case("required", "requested")("k", "REQUIRED")
    with pytest.raises(ConfigError, match="String must be one of: none, all"):
        one_of("none", "all")("k", "ALL")
    with pytest.raises(ConfigError, match=r"String must be one of \(case insensitive\): NONE, ALL"):
        one_of_ignoring_case("none", "all")("k", "some")


def test_an_undefined_dependent_is_reported() -> None:
    definition = ConfigDef(ConfigKey("a", INT, LOW, default=1, dependents=("b",)))
    found = {value.name: value for value in definition.validate({})}
    assert found["b"].errors == ["b is referred in the dependents, but not defined."]
    assert not found["b"].visible


def test_embedded_keys_are_sorted_and_report_their_short_name() -> None:
    child = ConfigDef(
        ConfigKey("low", INT, LOW, default=1),
        ConfigKey("needed", INT, LOW),
        ConfigKey("high", INT, HIGH, default=2, validator=at_least(1)),
    )
    keys = list(child.embedded("t.a.", "T: a", 2))
    assert [(key.name, key.group, key.order) for key in keys] == [
        ("t.a.needed", "T: a", 2),
        ("t.a.high", "T: a", 3),
        ("t.a.low", "T: a", 4),
    ]
    found = errors_of(ConfigDef(*keys).validate({"t.a.needed": "1", "t.a.high": "0"}))
    assert found == {"t.a.high": ["Invalid value 0 for configuration high: Value must be at least 1"]}


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("type", "text"),
    [
        (Type.LIST, "a" + " " * 1_000_000 + "b"),
        (Type.DOUBLE, "1" * 1_000_000 + "x"),
        (Type.DOUBLE, "1" * 1_000_000 + "." + "1" * 1_000_000 + "x"),
    ],
)
def test_a_value_of_a_megabyte_is_parsed_at_once(type: Type, text: str) -> None:
    with suppress(ConfigError):
        assert parse_type("key", text, type) == [text]


@given(st.text("a, \t", max_size=12))
def test_lists_are_split_as_kafka_splits_them(text: str) -> None:
    trimmed = text.strip()
    expected = re.split(r"\s*,\s*", trimmed) if trimmed else []
    assert parse_type("key", text, Type.LIST) == expected


NO_TOPICS = ("../../x y", "a b", "a/b", "a\0", "ünï", "a:b", "a,b", "a\n", "${topic}", "a" * 250)


@pytest.mark.parametrize("topic", [*NO_TOPICS, ".", ".."])
def test_what_kafka_allows_no_topic_to_be_called_is_refused(topic: str) -> None:
    for check, value in ((topic_name, topic), (topic_names, ["good", topic])):
        with pytest.raises(ConfigError, match=r"Kafka allows topics up to 249 characters") as refused:
            check("topic", value)
        assert refused.value.fields == {"key": "topic"}


@pytest.mark.parametrize("topic", ["a", "A.b_c-9", "...", "-", "a" * 249, "__consumer_offsets"])
def test_any_other_topic_is_welcome(topic: str) -> None:
    topic_name("topic", topic)
    topic_prefix("topic.prefix", topic)


@pytest.mark.parametrize("prefix", NO_TOPICS)
def test_what_no_topic_begins_with_is_refused(prefix: str) -> None:
    with pytest.raises(ConfigError, match="Kafka allows topics"):
        topic_prefix("topic.prefix", prefix)


def test_a_prefix_may_be_a_dot_and_nothing_names_no_topic() -> None:
    topic_prefix("topic.prefix", ".")
    for check in (topic_name, topic_prefix, topic_names, file_name):
        check("key", None)
        check("key", "")


@pytest.mark.parametrize("file", ["/data/a\0b", "\0", "/data/\ud800"])
def test_what_no_file_can_be_called_is_refused(file: str) -> None:
    with pytest.raises(ConfigError, match="configuration file: no file can have this name"):
        file_name("file", file)


def test_any_other_file_is_welcome() -> None:
    for file in ("/data/ünï code", "relative", "a\nb", "/dev/stdin"):
        file_name("file", file)


@pytest.mark.parametrize("name", [".", "..", "", "a\0b", "\x7f"])
def test_names_that_nobody_could_ask_for_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="for configuration name"):
        usable_name("name", name)


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
