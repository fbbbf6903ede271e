"""Plugins: found by class name, alias and version; left out with a reason where they cannot be loaded."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from copycat_connect.config import ConfigDef
from copycat_connect.errors import ConfigError, ConnectError
from copycat_connect.plugin import CONNECTORS, PluginKind, Plugins, PluginSpec, UnloadablePlugin, load_plugins
from copycat_connect.plugin.errors import (
    AmbiguousConnectorError,
    InvalidVersionRangeError,
    UnknownConnectorClassError,
    UnknownPluginError,
    UnloadablePluginError,
)
from copycat_connect.plugin.spec import LISTED
from copycat_connect.plugin.versions import version_range
from copycat_connect.validation.aliases import class_lookup


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


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("InsertField$Value", r" Did you mean org\.x\.InsertField\$Value\?"),
        ("InsertField", r" Did you mean org\.x\.InsertField\$Key, org\.x\.InsertField\$Value\?"),
    ],
)
def test_a_short_name_of_a_nested_class_is_refused_with_the_whole_one(name: str, advice: str) -> None:
    with pytest.raises(ConfigError, match=f"^Class {re.escape(name)} could not be found.{advice}$"):
        class_lookup(PLUGINS)(name)
    assert class_lookup(PLUGINS)("Field$Value") is None


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


@pytest.mark.parametrize(
    ("wanted", "version", "fits"),
    [
        ("1.0", "1.0.0", True),
        (" 1.0 ", "1.0.0", True),
        ("1.0", "1.1", False),
        ("", "1.0", False),
        ("LATEST", "1.0", False),
        ("[1.0,2.0)", "1.9.9", True),
        ("[1.0,2.0)", "2.0", False),
        ("(1.0,2.0]", "1.0", False),
        ("(,1.5]", "1.5", True),
        ("[,]", "1.5", True),
        ("[1.0],[2.0]", "2.0", True),
        ("[1,2),[4,5)", "4.4.0", True),
        ("[4,5),", "4.4.0", True),
        ("1.0,2.0", "1.5", True),
        ("[1.10,)", "1.9", False),
        ("[1.0,)", "1.0-rc1", False),
    ],
)
def test_a_version_is_inside_of_its_range_or_not(wanted: str, version: str, fits: bool) -> None:
    found = version_range(wanted)
    assert found is not None
    assert found.contains(version) is fits


@pytest.mark.parametrize("wanted", [None, "latest"])
def test_no_particular_version_is_asked_for(wanted: str | None) -> None:
    assert version_range(wanted) is None


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        ("[1.0", "Unbounded range: [1.0"),
        ("(1.0)", "Single version must be surrounded by []: (1.0)"),
        ("[5,4]", "Range defies version ordering: [5,4]"),
        ("(4,4)", "Range defies version ordering: (4,4)"),
        ("[4,5],[4.5,6]", "Ranges overlap: [4,5],[4.5,6]"),
        ("[4,5),6", "Only fully-qualified sets allowed in multiple set scenario: [4,5),6"),
        ("]", "Only fully-qualified sets allowed in multiple set scenario: []]"),
    ],
)
def test_a_malformed_range_is_refused_with_the_reason(wanted: str, reason: str) -> None:
    with pytest.raises(InvalidVersionRangeError) as refused:
        version_range(wanted)
    assert refused.value.message == reason


@pytest.mark.parametrize(
    ("wanted", "shown"),
    [("9", "[9,9]"), ("[1, 2)", "[1,2)"), ("", "[,]"), ("[1],(2,)", "[1,1],(2,)")],
)
def test_a_range_is_named_with_both_bounds(wanted: str, shown: str) -> None:
    assert str(version_range(wanted)) == shown


SPEC = """
from copycat_connect.config import ConfigDef
from copycat_connect.plugin import PluginKind, PluginSpec

def spec(**fields):
    usual = {"class_name": "acme.Thing", "kind": PluginKind.PREDICATE, "version": "1.0", "summary": ""}
    return PluginSpec(**{**usual, "config": ConfigDef(), "factory": object, **fields})

"""


class Packages:
    """Installs packages of one test, each with one module of its own name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def install(self, name: str, code: str | None, entry_point: str = "") -> None:
        """Install a package; without code its module is missing."""
        about = self.folder / f"{name}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[copycat.plugins]\n{name} = {entry_point or name}\n")
        if code is not None:
            (self.folder / f"{name}.py").write_text(code)


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Packages:
    monkeypatch.syspath_prepend(tmp_path)
    return Packages(tmp_path)


def reasons(plugins: Plugins) -> dict[str, str]:
    return {each.package: each.reason for each in plugins.unloadable}


def test_every_built_in_plugin_can_be_loaded() -> None:
    assert load_plugins().unloadable == ()


@pytest.mark.parametrize(
    ("name", "code", "entry_point", "reason"),
    [
        (
            "bad_import",
            "import no_such_library",
            "",
            "ModuleNotFoundError: No module named 'no_such_library'",
        ),
        ("bad_syntax", "def (", "", "SyntaxError: invalid syntax (bad_syntax.py, line 1)"),
        ("bad_luck", "1 / 0", "", "ZeroDivisionError: division by zero"),
        ("bad_exit", "import sys; sys.exit(3)", "", "SystemExit: 3"),
        ("bad_base", "raise BaseException('odd')", "", "BaseException: odd"),
        ("bad_missing", None, "", "ModuleNotFoundError: No module named 'bad_missing'"),
        (
            "bad_attribute",
            "",
            "bad_attribute:Thing",
            "AttributeError: module 'bad_attribute' has no attribute 'Thing'",
        ),
        ("bad_empty", "", "", "bad_empty has neither PLUGIN nor PLUGINS"),
        ("bad_type", "PLUGIN = 'Thing'", "", "a plugin is described by a str: it must be a PluginSpec"),
        ("bad_many", "PLUGINS = 5", "", "TypeError: 'int' object is not iterable"),
        (
            "bad_name",
            SPEC + "PLUGIN = spec(class_name='')",
            "",
            "has a str as class_name: it must be a class name",
        ),
        ("bad_kind", SPEC + "PLUGIN = spec(kind='sink')", "", "has a str as kind: it must be a PluginKind"),
        (
            "bad_version",
            SPEC + "PLUGIN = spec(version=None)",
            "",
            "has a NoneType as version: it must be text",
        ),
        ("bad_config", SPEC + "PLUGIN = spec(config={})", "", "has a dict as config: it must be a ConfigDef"),
        (
            "bad_factory",
            SPEC + "PLUGIN = spec(factory='x')",
            "",
            "has a str as factory: it must be a class or",
        ),
        (
            "bad_task",
            SPEC + "PLUGIN = spec(task_factory=1)",
            "",
            "has a int as task_factory: it must be a class",
        ),
    ],
)
def test_a_plugin_that_cannot_be_loaded_is_named_with_its_reason_and_harms_no_other(
    packages: Packages, name: str, code: str | None, entry_point: str, reason: str
) -> None:
    packages.install(name, code, entry_point)

    plugins = load_plugins()

    assert [each.entry_point for each in plugins.unloadable] == [f"{name} = {entry_point or name}"]
    assert reason in reasons(plugins)[name]
    assert plugins.find("FileStreamSource", CONNECTORS)
    assert plugins.find("org.apache.kafka.connect.storage.StringConverter")


def test_a_plugin_that_ended_another_process_is_not_loaded_again(packages: Packages) -> None:
    packages.install("deadly", "import os; os._exit(1)")
    announced: list[str] = []

    plugins = load_plugins(failed_before={"deadly = deadly": "it ends the process"}, loading=announced.append)

    assert reasons(plugins) == {"deadly": "it ends the process"}
    assert "deadly = deadly" not in announced
    assert "file_stream_sink = copycat_plugins.connectors.file_stream_sink.connector" in announced


def test_of_two_packages_with_one_plugin_the_newer_is_used_and_the_other_named(packages: Packages) -> None:
    packages.install("thing_a", SPEC + "PLUGIN = spec(version='1.9')")
    packages.install("thing_b", SPEC + "PLUGIN = spec(version='1.10')")
    packages.install("thing_c", SPEC + "PLUGIN = spec(version='1.10')")

    plugins = load_plugins()

    assert plugins.find("acme.Thing").version == "1.10"
    left_out = (
        "its predicate acme.Thing {} is not used, since the package thing_b has it too, in version 1.10; "
    )
    assert reasons(plugins) == {
        "thing_a": left_out.format("1.9") + "uninstall one of the two",
        "thing_c": left_out.format("1.10") + "uninstall one of the two",
    }


def test_a_factory_named_by_text_is_imported_when_one_is_made(packages: Packages) -> None:
    code = "PLUGIN = spec(class_name='acme.Named', factory='slow_parts:Thing', kind=PluginKind.SOURCE"
    packages.install("named", SPEC + code + ", task_factory='slow_parts:Task')")
    spec = load_plugins().find("acme.Named", CONNECTORS)
    assert spec.module == "slow_parts"

    (packages.folder / "slow_parts.py").write_text("class Thing: pass\nclass Task: pass\n")

    assert type(spec.make()).__name__ == "Thing"
    assert type(spec.make_task()).__name__ == "Task"


def test_what_is_no_connector_has_no_tasks() -> None:
    spec = load_plugins().find("org.apache.kafka.connect.transforms.Filter", (PluginKind.TRANSFORMATION,))
    with pytest.raises(ConnectError, match="Filter has no tasks"):
        spec.make_task()
