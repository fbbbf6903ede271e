"""Finding plugins by class name and alias."""

from __future__ import annotations

import pytest
from copycat_connect.config import ConfigDef
from copycat_connect.plugin import CONNECTORS, PluginKind, Plugins, PluginSpec, UnloadablePlugin
from copycat_connect.plugin.errors import (
    AmbiguousConnectorError,
    UnknownConnectorClassError,
    UnknownPluginError,
    UnloadablePluginError,
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


BROKEN = UnloadablePlugin(
    "acme-orders", "2.1", "orders_source = acme_orders.plugin", "ImportError: no driver"
)


@pytest.mark.parametrize(
    "name", ["acme_orders.OrdersSourceConnector", "com.acme.OrdersSourceConnector", "OrdersSource"]
)
def test_the_name_of_a_plugin_that_cannot_be_loaded_is_refused_with_reason_and_remedy(name: str) -> None:
    for find in (Plugins([SINK], [BROKEN]).find, Plugins([SINK], [BROKEN]).find_connector):
        with pytest.raises(UnloadablePluginError) as refused:
            find(name)
        assert refused.value.code.http == 400
        assert refused.value.message == (
            f"Plugin {name} is installed but cannot be loaded: ImportError: no driver. It comes with the"
            " package acme-orders 2.1 (entry point orders_source = acme_orders.plugin): repair or uninstall"
            " that package, then restart the workers"
        )


def test_an_unknown_connector_class_is_refused_also_with_what_cannot_be_loaded() -> None:
    with pytest.raises(UnknownConnectorClassError, match="Installed but not loadable: orders_source = acme"):
        Plugins([SINK], [BROKEN]).find_connector("com.other.Thing")


def test_an_extension_is_found_by_class_and_alias_and_is_no_listed_kind() -> None:
    guard = spec("org.x.GuardConnectRestExtension", PluginKind.REST_EXTENSION)
    plugins = Plugins([SINK, guard])

    for name in ("org.x.GuardConnectRestExtension", "GuardConnectRestExtension", "Guard"):
        assert plugins.find(name) is guard
    assert PluginKind.REST_EXTENSION not in LISTED
    assert len(LISTED) == len(PluginKind) - 1
