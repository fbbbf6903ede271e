"""Finding plugins by class name and alias."""

from __future__ import annotations

from pathlib import Path

import pytest
from copycat_connect.config import ConfigDef
from copycat_connect.plugin import CONNECTORS, PluginKind, Plugins, PluginSpec, load_plugins
from copycat_connect.plugin.errors import (
    AmbiguousConnectorError,
    UnknownConnectorClassError,
    UnknownPluginError,
)
from copycat_connect.plugin.spec import LISTED


def spec(class_name: str, kind: PluginKind) -> PluginSpec:
    return PluginSpec(class_name, kind, "1.0", "", ConfigDef(), object)


SINK = spec("org.x.FileStreamSinkConnector", PluginKind.SINK)
SOURCE = spec("org.x.FileStreamSourceConnector", PluginKind.SOURCE)
STRING = spec("org.x.StringConverter", PluginKind.CONVERTER)
STRING_HEADERS = spec("org.x.StringConverter", PluginKind.HEADER_CONVERTER)
INSERT_KEY = spec("org.x.InsertField$Key", PluginKind.TRANSFORMATION)
INSERT_VALUE = spec("org.x.InsertField$Value", PluginKind.TRANSFORMATION)
CAST_VALUE = spec("org.x.Cast$Value", PluginKind.TRANSFORMATION)
PLUGINS = Plugins([STRING_HEADERS, CAST_VALUE, INSERT_VALUE, INSERT_KEY, STRING, SOURCE, SINK])


def test_plugins_are_listed_by_kind_and_then_by_name() -> None:
    assert PLUGINS.all() == (SINK, SOURCE, CAST_VALUE, INSERT_KEY, INSERT_VALUE, STRING, STRING_HEADERS)


@pytest.mark.parametrize(
    "name", ["org.x.FileStreamSinkConnector", "FileStreamSinkConnector", "FileStreamSink"]
)
def test_a_plugin_is_found_by_class_simple_name_and_short_alias(name: str) -> None:
    assert PLUGINS.find(name, CONNECTORS) is SINK


def test_one_class_of_two_kinds_is_found_by_kind() -> None:
    assert PLUGINS.find("String", (PluginKind.HEADER_CONVERTER,)) is STRING_HEADERS
    assert PLUGINS.find("String", (PluginKind.CONVERTER,)) is STRING


def test_an_alias_that_several_classes_claim_is_nobodys() -> None:
    assert PLUGINS.get("Value") is None
    assert PLUGINS.find("org.x.InsertField$Value") is INSERT_VALUE
    assert PLUGINS.get("Key") is INSERT_KEY


def test_an_unknown_plugin_is_refused() -> None:
    with pytest.raises(UnknownPluginError, match="Unknown plugin Nope"):
        PLUGINS.find("Nope")


def test_an_unknown_connector_class_is_refused_with_those_there_are() -> None:
    with pytest.raises(UnknownConnectorClassError) as refused:
        PLUGINS.find_connector("Nope")
    assert refused.value.message == (
        "Failed to find any class that implements Connector and which name matches Nope, "
        "available connectors are: org.x.FileStreamSinkConnector, org.x.FileStreamSourceConnector"
    )


def test_a_connector_alias_of_two_classes_is_refused() -> None:
    plugins = Plugins([SINK, spec("com.y.FileStreamSinkConnector", PluginKind.SINK)])
    with pytest.raises(AmbiguousConnectorError, match="More than one connector matches alias FileStreamSink"):
        plugins.find_connector("FileStreamSink")


def test_a_module_that_cannot_be_loaded_is_raised_or_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = tmp_path / "broken-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[copycat.plugins]\nbroken = no_such_module_here\n")
    monkeypatch.syspath_prepend(tmp_path)
    told: list[str] = []

    with pytest.raises(ModuleNotFoundError):
        load_plugins()
    left = load_plugins(lambda module, error: told.append(f"{module}: {type(error).__name__}"))

    assert told == ["no_such_module_here: ModuleNotFoundError"]
    assert left.get("FileStreamSink") is not None


def test_an_extension_is_found_by_class_and_alias_and_is_no_listed_kind() -> None:
    guard = spec("org.x.GuardConnectRestExtension", PluginKind.REST_EXTENSION)
    plugins = Plugins([SINK, guard])

    for name in ("org.x.GuardConnectRestExtension", "GuardConnectRestExtension", "Guard"):
        assert plugins.find(name) is guard
    assert PluginKind.REST_EXTENSION not in LISTED
    assert len(LISTED) == len(PluginKind) - 1
