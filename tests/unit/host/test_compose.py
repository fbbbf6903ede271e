"""Converters and transformations out of configurations."""

from collections.abc import Mapping

import pytest
from copycat_connect.config import ConfigDef
from copycat_connect.data import ConnectRecord, SourceRecord
from copycat_connect.errors import ConfigError
from copycat_connect.plugin import PluginKind, Plugins, PluginSpec, Predicate, Transformation
from copycat_executor.pipeline.records.tolerate import Tolerance
from copycat_executor.taskhost.compose import build_chain, build_converters
from copycat_executor.taskhost.host_questions import HostQueries

from tests.unit.pipeline.fakes import TextConverter, TextHeaders, tolerance


class Told(TextConverter):
    """Remembers its configuration."""

    def configure(self, config: Mapping[str, str | None], is_key: bool = False) -> None:
        self.config = dict(config)
        self.is_key = is_key


class ToldHeaders(TextHeaders):
    """Remembers its configuration."""

    def configure(self, config: Mapping[str, str | None], is_key: bool = False) -> None:
        self.config = dict(config)


class Suffix(Transformation):
    """Appends its `text` to values."""

    def configure(self, config: Mapping[str, str | None]) -> None:
        self.config = dict(config)

    def apply(self, record: ConnectRecord) -> ConnectRecord:  # type: ignore[override]
        return record.replace(value=f"{record.value}{self.config['text']}")


class Short(Predicate):
    """Holds for values of at most `length` characters."""

    def configure(self, config: Mapping[str, str | None]) -> None:
        self.length = int(config["length"] or 0)

    def test(self, record: ConnectRecord) -> bool:
        return len(record.value) <= self.length


def spec(name: str, kind: PluginKind, factory: type) -> PluginSpec:
    return PluginSpec(f"a.{name}", kind, "1", "", ConfigDef(), factory)


PLUGINS = Plugins([
    spec("ToldConverter", PluginKind.CONVERTER, Told),
    spec("OtherConverter", PluginKind.CONVERTER, Told),
    spec("PlainHeaderConverter", PluginKind.HEADER_CONVERTER, ToldHeaders),
    spec("Suffix", PluginKind.TRANSFORMATION, Suffix),
    spec("Short", PluginKind.PREDICATE, Short),
])  # fmt: skip
WORKER = {
    "key.converter": "a.ToldConverter",
    "value.converter": "Told",
    "value.converter.from": "worker",
    "header.converter": "a.PlainHeaderConverter",
}


def told(converter: object) -> Told:
    assert isinstance(converter, Told)
    return converter


def test_the_workers_converters_are_used_with_its_settings() -> None:
    converters = build_converters(WORKER, {"value.converter.from": "connector"}, PLUGINS)

    assert told(converters.key).is_key
    assert told(converters.key).config == {"converter.type": "key"}
    assert told(converters.value).config == {"from": "worker", "converter.type": "value"}
    assert converters.value_name == "a.ToldConverter"


def test_a_connectors_converter_is_used_with_its_settings_only() -> None:
    connector = {"value.converter": "a.OtherConverter", "value.converter.mine": "1"}

    converters = build_converters(WORKER, connector, PLUGINS)

    assert converters.value_name == "a.OtherConverter"
    assert told(converters.value).config == {"mine": "1", "converter.type": "value"}


def test_a_converter_that_nobody_names_is_missed() -> None:
    with pytest.raises(ConfigError, match=r'Missing required configuration "key\.converter"'):
        build_converters({}, {}, PLUGINS)


class Context:
    """Offers an engine that is never asked."""

    def __init__(self) -> None:
        self.queries = HostQueries(lambda _: None)


def apply(connector: dict[str, str | None], aliases: list[str], value: str) -> object:
    handler: Tolerance = tolerance()
    record = SourceRecord(None, None, "t", value)
    result = build_chain(connector, aliases, PLUGINS, handler, Context()).apply(record, record)
    assert result is not None
    return result.value


STEPS: dict[str, str | None] = {
    "transforms.a.type": "a.Suffix",
    "transforms.a.text": "1",
    "transforms.b.type": "Suffix",
    "transforms.b.text": "2",
}


def test_transformations_are_applied_in_the_order_of_their_aliases() -> None:
    assert apply(STEPS, ["b", "a"], "x") == "x21"


@pytest.mark.parametrize(("negate", "result"), [("false", "x1"), ("true", "x")])
def test_a_predicate_decides_whether_a_transformation_is_applied(negate: str, result: str) -> None:
    connector = {
        **STEPS,
        "transforms.a.predicate": "short",
        "transforms.a.negate": negate,
        "predicates.short.type": "a.Short",
        "predicates.short.length": "1",
    }

    assert apply(connector, ["a"], "x") == result


def test_a_transformation_does_not_see_the_frameworks_keys() -> None:
    connector = {**STEPS, "transforms.a.predicate": "", "transforms.a.negate": "false"}

    chain = build_chain(connector, ["a"], PLUGINS, tolerance(), Context())

    (step,) = chain._steps
    assert isinstance(step.transformation, Suffix)
    assert step.transformation.config == {"text": "1"}


def test_a_transformation_that_is_not_installed_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"Unknown plugin a\.None"):
        apply({"transforms.a.type": "a.None"}, ["a"], "x")
