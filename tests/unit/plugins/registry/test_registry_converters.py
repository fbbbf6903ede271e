"""How converters with a registry are listed and configured, and what they say when it is wrong or away."""

from __future__ import annotations

import pytest
from copycat_connect.data import INT64_SCHEMA, OPTIONAL_STRING_SCHEMA, STRING_SCHEMA, SchemaBuilder
from copycat_connect.errors import ConfigError, DataError, RetriableError
from copycat_connect.plugin import Converter, PluginKind, load_plugins
from copycat_embedded.ports import free_ports
from copycat_registry.settings import subject_strategy

CLASSES = (
    "io.confluent.connect.avro.AvroConverter",
    "io.confluent.connect.json.JsonSchemaConverter",
    "io.confluent.connect.protobuf.ProtobufConverter",
)
PLUGINS = load_plugins()


def converter(name: str, **config: str) -> Converter:
    made: Converter = PLUGINS.find(name, (PluginKind.CONVERTER,)).make()
    made.configure({"schema.registry.url": "http://127.0.0.1:1", "max.retries": "0", **config})
    return made


@pytest.mark.parametrize("class_name", CLASSES)
def test_it_answers_to_its_class_name_and_to_short_ones(class_name: str) -> None:
    simple = class_name.rpartition(".")[2]
    for name in (class_name, simple, simple.removesuffix("Converter")):
        assert PLUGINS.find(name, (PluginKind.CONVERTER,)).class_name == class_name


@pytest.mark.parametrize("class_name", CLASSES)
def test_a_registry_must_be_named(class_name: str) -> None:
    spec = PLUGINS.find(class_name)
    errors = {value.name: value.errors for value in spec.config.validate({"converter.type": "value"})}
    assert any("schema.registry.url" in text for text in errors["schema.registry.url"])


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ({"schema.registry.url": "localhost:8081"}, r"list of addresses, each like http://host:port"),
        ({"schema.registry.url": ""}, r"list of addresses"),
        ({"value.subject.name.strategy": "my.Own"}, r"is my\.Own, which is not known.*TopicNameStrategy"),
        ({"basic.auth.credentials.source": "SASL_INHERIT"}, r"set it to URL or USER_INFO"),
        (
            {"basic.auth.credentials.source": "USER_INFO", "basic.auth.user.info": "geheim"},
            r"not a name and a password with a colon",
        ),
        (
            {
                "schema.registry.ssl.truststore.location": "/t.jks",
                "schema.registry.ssl.truststore.type": "JKS",
            },
            r"only PEM files",
        ),
        ({"schema.registry.ssl.truststore.location": "/dev/zero"}, "no regular file"),
        ({"schema.registry.ssl.truststore.location": "/nowhere.pem"}, r"cannot be read \(No such file"),
        ({"bearer.auth.credentials.source": "OAUTHBEARER"}, r"must be STATIC_TOKEN"),
    ],
)
def test_a_wrong_setting_is_named_with_the_fix_and_without_its_secret(
    config: dict[str, str], problem: str
) -> None:
    with pytest.raises(ConfigError, match=problem) as caught:
        converter("Avro", **config)
    assert "geheim" not in caught.value.message


@pytest.mark.parametrize("name", CLASSES)
def test_keys_of_other_versions_and_other_formats_are_no_reason_to_refuse(name: str) -> None:
    more = {
        "latest.cache.ttl.sec": "60",
        "avro.use.logical.type.converters": "true",
        "json.write.dates.iso8601": "true",
        "rule.executors": "",
        "no.such.key": "x",
    }

    assert converter(name, **more).to_connect("t", None, None).value is None
    found = PLUGINS.find(name).config.validate({"schema.registry.url": "http://127.0.0.1:1", **more})
    assert not [value.errors for value in found if value.errors and value.name in more]


@pytest.mark.parametrize("name", CLASSES)
def test_a_registry_that_is_away_is_worth_another_try_and_keeps_secrets(name: str) -> None:
    address = f"127.0.0.1:{free_ports(1)[0]}"
    away = converter(name, **{"schema.registry.url": f"http://me:geheim@{address}/api"})
    schema = SchemaBuilder.struct().name("S").field("a", INT64_SCHEMA).build()
    for ask in (
        lambda: away.from_connect("orders", None, schema, {}),
        lambda: away.to_connect("orders", None, b"\0\0\0\0\x07\0rest"),
    ):
        with pytest.raises(
            RetriableError, match=rf"orders: no registry answers at http://{address}/api"
        ) as caught:
            ask()
        assert "geheim" not in str(caught.value)


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("data", [b"", b"\0\0", b'{"a":1}'])
def test_bytes_without_a_schema_id_name_the_topic_and_the_fix(name: str, data: bytes) -> None:
    with pytest.raises(
        DataError, match=r"Unknown magic byte! A value of topic orders .*Set value\.converter"
    ):
        converter(name).to_connect("orders", None, data)


@pytest.mark.parametrize("name", CLASSES)
def test_null_stays_null_without_asking_the_registry(name: str) -> None:
    made = converter(name)
    assert made.to_connect("t", None, None) == (None, None)
    assert made.from_connect("t", None, None, None) is None
    assert made.from_connect_batch("t", None, [None, None]) == [None, None]


def test_null_in_avro_is_a_tombstone_unless_a_value_is_required() -> None:
    made = converter("Avro")
    assert made.from_connect("t", None, OPTIONAL_STRING_SCHEMA, None) is None
    with pytest.raises(DataError, match="Found null value for non-optional schema"):
        made.from_connect("t", None, STRING_SCHEMA, None)


def test_subjects_are_named_after_topic_record_or_both() -> None:
    package = "io.confluent.kafka.serializers.subject."
    names = {
        "TopicNameStrategy": "t-key",
        "RecordNameStrategy": "a.R",
        "TopicRecordNameStrategy": "t-a.R",
    }
    for strategy, expected in names.items():
        assert subject_strategy(package + strategy)("t", True, "a.R") == expected
    assert subject_strategy("TopicNameStrategy")("t", False, None) == "t-value"
    with pytest.raises(DataError, match=r"topic t is no record .*set the strategy to TopicNameStrategy"):
        subject_strategy("RecordNameStrategy")("t", False, None)
