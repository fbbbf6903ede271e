"""Converters with a registry: how they are listed and configured, and how the registry is spoken to."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

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


Answer = tuple[int, object]
Serve = Callable[[Callable[[str | None], Answer]], str]


@pytest.fixture
def pretend() -> Iterator[Serve]:
    """Serve answers made from the Authorization header, on loopback."""
    running: list[ThreadingHTTPServer] = []

    def serve(answer: Callable[[str | None], Answer]) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                status, body = answer(self.headers["Authorization"])
                encoded = body.encode() if isinstance(body, str) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(encoded)))
                self.end_headers()
                self.wfile.write(encoded)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        running.append(server)
        Thread(target=server.serve_forever, daemon=True).start()
        return f"127.0.0.1:{server.server_address[1]}"

    yield serve
    for server in running:
        server.shutdown()
        server.server_close()


def writer(url: str, **config: str) -> Converter:
    made: Converter = load_plugins().find("Avro", (PluginKind.CONVERTER,)).make()
    made.configure({"schema.registry.url": url, "retries.wait.ms": "1", **config})
    return made


def protected(header: str | None) -> Answer:
    allowed = {f"Basic {b64encode(b'me:geheim').decode()}", "Bearer geheim"}
    return (200, {"id": 5}) if header in allowed else (401, {"error_code": 40101, "message": "Unauthorized"})


def test_credentials_come_from_the_setting_the_address_or_a_token(pretend: Serve) -> None:
    address = pretend(protected)
    for made in (
        writer(
            f"http://{address}",
            **{"basic.auth.credentials.source": "USER_INFO", "basic.auth.user.info": "me:geheim"},
        ),
        writer(f"http://me:geheim@{address}"),
        writer(
            f"http://{address}",
            **{"bearer.auth.credentials.source": "STATIC_TOKEN", "bearer.auth.token": "geheim"},
        ),
    ):
        assert made.from_connect("t", None, STRING_SCHEMA, "x") == b"\0\0\0\0\x05\x02x"


def test_refused_credentials_name_the_settings_and_not_the_secret(pretend: Serve) -> None:
    made = writer(f"http://me:wrong@{pretend(protected)}")
    with pytest.raises(ConfigError, match=r"answered 401.*basic\.auth\.user\.info") as caught:
        made.from_connect("t", None, STRING_SCHEMA, "x")
    assert "wrong" not in caught.value.message


def test_a_busy_registry_is_asked_again_before_the_task_is(pretend: Serve) -> None:
    answers: list[Answer] = [(503, {}), (200, {"id": 5})]
    made = writer(f"http://{pretend(lambda _: answers.pop(0))}")
    assert made.from_connect("t", None, STRING_SCHEMA, "x") is not None
    busy = writer(f"http://{pretend(lambda _: (503, {'error_code': 50301, 'message': 'busy'}))}")
    with pytest.raises(RetriableError, match=r"answered 503, 'busy'\. It may answer later"):
        busy.from_connect("t", None, STRING_SCHEMA, "x")


def test_one_schema_costs_one_request(pretend: Serve) -> None:
    asked: list[str | None] = []

    def count(header: str | None) -> Answer:
        asked.append(header)
        return 200, {"id": 5}

    made = writer(f"http://{pretend(count)}")
    made.from_connect_batch("t", STRING_SCHEMA, ["a", "b"])
    made.from_connect("t", None, STRING_SCHEMA, "c")
    assert len(asked) == 1


def test_an_address_of_something_else_is_told(pretend: Serve) -> None:
    refusing = writer(f"http://{pretend(lambda _: (400, {'message': 'what?'}))}")
    with pytest.raises(DataError, match=r"schema\.registry\.url is the address of a schema registry"):
        refusing.from_connect("t", None, STRING_SCHEMA, "x")
    page = writer(f"http://{pretend(lambda _: (200, '<html>'))}")
    with pytest.raises(DataError, match="is no schema registry"):
        page.from_connect("t", None, STRING_SCHEMA, "x")
