"""What transformations say about their settings as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from copycat_connect.config import HIGH, STRING, ConfigDef, ConfigKey, ConfigValue, non_empty
from copycat_connect.data import ConnectRecord
from copycat_connect.plugin import (
    PluginKind,
    Plugins,
    PluginSpec,
    QueryEngine,
    Transformation,
    TransformationContext,
    load_plugins,
)
from copycat_connect.validation import WorkerRules, connector_plugin, validate_connector

R = TypeVar("R", bound=ConnectRecord)


class Paired(Transformation):
    """Wants its two settings to be alike."""

    def initialize(self, context: TransformationContext) -> None:
        self._context = context

    def validate(self, config: Mapping[str, str | None]) -> list[ConfigValue]:
        assert self._context is not None
        same = config["left"] == config["right"]
        return [] if same else [ConfigValue("right", errors=[f"is not {config['left']}"])]

    def apply(self, record: R) -> R | None:
        return record


class NoEngine:
    """Is never asked."""

    queries: QueryEngine


KEYS = (ConfigKey(name, STRING, HIGH, validator=non_empty, doc="One.") for name in ("left", "right"))
SPEC = PluginSpec("a.Paired", PluginKind.TRANSFORMATION, "1", "Pairs.", ConfigDef(*KEYS), Paired)
PLUGINS = Plugins([SPEC, *load_plugins().all()])


def errors(context: TransformationContext | None, **settings: str) -> dict[str, list[str]]:
    step = {f"transforms.p.{key}": value for key, value in settings.items()}
    return errors_of(
        context,
        **{"connector.class": "FileStreamSource", "topic": "t", "transforms": "p"},
        **{"transforms.p.type": "Paired", **step},
    )


def errors_of(context: TransformationContext | None, **config: str) -> dict[str, list[str]]:
    config["name"] = "a"
    spec = connector_plugin(config, PLUGINS)
    rules = WorkerRules.of({"key.converter": "StringConverter", "value.converter": "StringConverter"})
    found = validate_connector(config, spec, PLUGINS, rules, spec.make(), context=context)
    return {info.name: info.value.errors for info in found.infos if info.value.errors}


def test_a_transformation_checks_its_settings_together() -> None:
    assert errors(NoEngine(), left="a", right="a") == {}
    assert errors(NoEngine(), left="a", right="b") == {"transforms.p.right": ["is not a"]}


def test_it_is_not_asked_while_a_single_key_is_wrong_or_without_a_context() -> None:
    wrong = errors(NoEngine(), left="", right="b")
    assert list(wrong) == ["transforms.p.left"]
    assert errors(None, left="a", right="b") == {}


def test_a_transformation_by_sql_is_refused_where_spark_reads_the_records() -> None:
    found = errors_of(
        NoEngine(),
        **{"connector.class": "SparkSource", "topic": "t", "format": "text", "store.url": "file:///lake"},
        **{"transforms": "p", "transforms.p.type": "SparkSql", "transforms.p.value.schema": "a INT"},
        **{"transforms.p.sql": "SELECT value FROM records"},
    )
    assert list(found) == ["transforms.p.sql"]
    assert "Spark reads the records of this connector" in found["transforms.p.sql"][0]
