"""Plugins that cannot be loaded are left out with their reason, and all others are there."""

from __future__ import annotations

from pathlib import Path

import pytest
from copycat_connect.errors import ConnectError
from copycat_connect.plugin import CONNECTORS, PluginKind, Plugins, load_plugins

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
