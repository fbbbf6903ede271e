"""Plugins that fail, end or hang when they are imported, or start threads then: no other is harmed."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from copycat.executor.v1 import executor_service_pb2 as pb
from copycat_executor.children import plugin_watch
from copycat_rpc.errors import RemoteError

from tests.contract.executor.world import SOURCE, validate, world

CODE = {
    "broken_import": "import no_such_library",
    "broken_exit": "import os; os._exit(7)",
    "broken_hang": "import threading; threading.Event().wait()",
}
REASONS = {
    "broken_import": "ModuleNotFoundError: No module named 'no_such_library'",
    "broken_exit": "it ended the process that loaded it (exit code 7)",
    "broken_hang": "it was not loaded within 8 s",
}


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    for name, code in CODE.items():
        about = tmp_path / f"{name}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[copycat.plugins]\n{name} = {name}\n")
        (tmp_path / f"{name}.py").write_text(code)
    return tmp_path


async def test_plugins_that_raise_end_the_process_or_hang_when_imported_harm_no_other(
    packages: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(plugin_watch, "LOAD_TIMEOUT_SECONDS", 8.0)
    with caplog.at_level(logging.WARNING, plugin_watch.__name__):
        async with world(packages=packages) as it:
            found = await it.gateway.ListPlugins(pb.ListPluginsRequest())
            valid = await validate(it, SOURCE)
            refused = {}
            for name in CODE:
                with pytest.raises(RemoteError) as raised:
                    await validate(it, {"connector.class": f"{name}.OrdersSource"})
                refused[name] = raised.value
            step = {"transforms": "up", "transforms.up.type": "broken_import.Upper"}
            errors = (await validate(it, {**SOURCE, **step})).configs
            await it.run_task()
            host = it.launcher.hosts[0].spec

    assert {each.package: each.reason for each in found.unloadable} == REASONS
    first = found.unloadable[0]
    assert (first.entry_point, first.package_version) == ("broken_exit = broken_exit", "1.0")
    assert {"probe.ProbeSourceConnector"} < {each.class_name for each in found.plugins}
    assert valid.error_count == 0
    for name, error in refused.items():
        assert error.remote_code.http == 400
        assert error.message.startswith(
            f"Plugin {name}.OrdersSource is installed but cannot be loaded: {REASONS[name]}. It comes with"
        )
    assert [each.value.errors[0].partition(": ")[2][:65] for each in errors if each.value.errors] == [
        "Plugin broken_import.Upper is installed but cannot be loaded: Mod"
    ]
    assert host.failed_plugins == {f"{name} = {name}": reason for name, reason in REASONS.items()}
    warnings = [each.getMessage() for each in caplog.records if each.name == plugin_watch.__name__]
    assert sorted(warnings) == sorted(
        f"the plugin {name} = {name} is installed but cannot be loaded: {reason}"
        for name, reason in REASONS.items()
    )


THREADED = """
import threading
from copycat_connect.plugin import PluginKind, PluginSpec
from copycat_probe import KEYS, ProbeSource
THREAD = threading.Thread(target=threading.Event().wait, daemon=True)
THREAD.start()
class Source(ProbeSource):
    def validate(self, config):
        assert THREAD.is_alive()
        assert THREAD.native_id is not None
        assert THREAD in threading.enumerate()
        return None
PLUGIN = PluginSpec("threaded.Source", PluginKind.SOURCE, "1", "Has a thread.", KEYS, Source, "threaded.Task")
"""


async def test_a_plugin_that_starts_threads_when_imported_has_them_in_each_process(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    about = tmp_path / "threaded-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: threaded\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[copycat.plugins]\nthreaded = threaded\n")
    (tmp_path / "threaded.py").write_text(THREADED)
    with caplog.at_level(logging.INFO, plugin_watch.__name__):
        async with world(packages=tmp_path) as it:
            found = await validate(it, {"connector.class": "threaded.Source", "tasks.max": "1"})
            others = await validate(it, SOURCE)
            listed = await it.gateway.ListPlugins(pb.ListPluginsRequest())
    assert (found.error_count, others.error_count, list(listed.unloadable)) == (0, 0, [])
    assert "the plugin threaded = threaded starts threads when it is loaded" in caplog.text
