"""`copycat plugins add`, `list`, `remove`, `restore` in a scratch environment, by the real installer."""

from __future__ import annotations

import json
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from copycat_testkit.scratch_environment import ScratchEnvironment

pytestmark = pytest.mark.long

PLUGIN = """
from copycat_connect.config import ConfigDef
from copycat_connect.plugin import PluginKind, PluginSpec, Transformation

class Same(Transformation):
    def apply(self, record):
        return record

print("a module may print")
PLUGIN = PluginSpec("{module}.Same", PluginKind.TRANSFORMATION, "{version}", "Same.", ConfigDef(), Same)
"""


@pytest.fixture
def packages(environment: ScratchEnvironment) -> Iterator[ScratchEnvironment]:
    """Give the environment; what a test added is removed."""
    yield environment
    for name in recorded(environment):
        assert environment.run("plugins", "remove", name).returncode == 0


def wheel(
    folder: Path,
    name: str,
    version: str = "1.0",
    *,
    code: str = PLUGIN,
    needs: tuple[str, ...] = (),
    announces: bool = True,
) -> Path:
    """Write the wheel of a package with one module; no network and no build tool is needed for it."""
    module = name.replace("-", "_")
    described = f"{module}-{version}.dist-info"
    requires = "".join(f"Requires-Dist: {each}\n" for each in ("copycat-connect", *needs))
    files = {
        f"{module}.py": code.format(module=module, version=version) if code is PLUGIN else code,
        f"{described}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{requires}",
        f"{described}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    if announces:
        files[f"{described}/entry_points.txt"] = f"[copycat.plugins]\nsame = {module}\n"
    record = "".join(f"{path},,\n" for path in (*files, f"{described}/RECORD"))
    file = folder / f"{module}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        for path, text in {**files, f"{described}/RECORD": record}.items():
            archive.writestr(path, text)
    return file


def recorded(environment: ScratchEnvironment) -> list[str]:
    """Return the names that the record of the environment has."""
    file = environment.folder.parent / ".plugins/plugins.json"
    return [each["name"] for each in json.loads(file.read_text())["plugins"]] if file.exists() else []


def added(environment: ScratchEnvironment) -> dict[str, str | None]:
    """Return the version of each package that was added."""
    listed = json.loads(environment.run("plugins", "list", "-o", "json").stdout)
    return {each["name"]: each["version"] for each in listed}


def imports(environment: ScratchEnvironment, module: str) -> bool:
    python = environment.folder / "bin" / "python"
    return (
        subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0
    )


def everything(environment: ScratchEnvironment) -> set[str]:
    """Return what is installed, by the folders that describe it."""
    site = next(environment.folder.glob("lib/python3*/site-packages"))
    return {entry.name for entry in site.iterdir() if entry.suffix in {".dist-info", ".py"}}


def test_what_was_added_comes_back_after_the_environment_was_made_anew(
    packages: ScratchEnvironment, tmp_path: Path
) -> None:
    file = wheel(tmp_path, "first-plugin")
    done = packages.run("plugins", "add", file)
    assert (done.returncode, "transformation first_plugin.Same" in done.stdout) == (0, True), done.stderr
    assert "restart" in done.stderr
    file.unlink()  # a copy is kept
    wheels = packages.folder.parent / ".plugins/wheels"
    assert [kept.name for kept in wheels.iterdir()] == [file.name]

    site = next(packages.folder.glob("lib/python3*/site-packages"))
    for entry in [*site.glob("first_plugin*")]:  # as a set-up does: it leaves what the lock file names
        subprocess.run(["rm", "-r", entry], check=True)
    assert added(packages) == {"first-plugin": None}
    restored = packages.run("plugins", "restore")
    assert (restored.returncode, added(packages)) == (0, {"first-plugin": "1.0"}), restored.stderr
    assert packages.run("plugins", "remove", "first_plugin").returncode == 0
    assert recorded(packages) == []
    assert not imports(packages, "first_plugin")
    assert not [*wheels.iterdir()]


def test_a_newer_version_takes_the_place_of_an_older_one(
    packages: ScratchEnvironment, tmp_path: Path
) -> None:
    for version in ("1.0", "1.1"):
        assert packages.run("plugins", "add", wheel(tmp_path, "grown", version)).returncode == 0
    assert added(packages) == {"grown": "1.1"}


def test_what_two_plugins_need_stays_until_both_are_removed(
    packages: ScratchEnvironment, tmp_path: Path
) -> None:
    shared = wheel(tmp_path, "shared-part", announces=False, code="")
    for name in ("one-plugin", "other-plugin"):
        needs = (f"shared-part @ {shared.as_uri()}",)
        done = packages.run("plugins", "add", wheel(tmp_path, name, needs=needs))
        assert done.returncode == 0, done.stderr
    for name, stays in (("one-plugin", True), ("other-plugin", False)):
        assert packages.run("plugins", "remove", name).returncode == 0
        assert imports(packages, "shared_part") is stays


@pytest.mark.parametrize(
    ("made", "why"),
    [
        ({"needs": ("confluent-kafka<2",)}, "confluent-kafka"),
        ({"needs": ("no-such-package-as-this-one",)}, "no-such-package-as-this-one"),
        ({"announces": False}, '[project.entry-points."copycat.plugins"]'),
        ({"code": "import not_there\n"}, "No module named 'not_there'"),
        ({"code": "import os\nos._exit(3)\n"}, "exit code 3"),
        ({"code": "PLUGIN = 'text'\n"}, "PluginSpec"),
    ],
    ids=["conflict", "no such package", "no entry point", "import fails", "import crashes", "no spec"],
)
def test_a_package_that_would_not_work_is_refused_and_leaves_nothing(
    packages: ScratchEnvironment, tmp_path: Path, made: dict[str, object], why: str
) -> None:
    before = everything(packages)
    done = packages.run("plugins", "add", wheel(tmp_path, "bad-plugin", **made))  # type: ignore[arg-type] # keywords
    assert done.returncode == 4
    assert "was not added, and nothing was changed" in done.stderr
    assert why in done.stderr
    assert "Traceback" not in done.stderr
    assert everything(packages) == before
    assert recorded(packages) == []


def test_a_package_of_copycat_itself_is_never_taken_as_a_plugin(packages: ScratchEnvironment) -> None:
    done = packages.run("plugins", "add", "copycat-plugins==99")
    assert (done.returncode, "Copycat itself is made of" in done.stderr) == (4, True)
    assert packages.run("plugins", "remove", "copycat-plugins").returncode == 3


def test_one_plugin_that_cannot_come_back_holds_up_no_other(
    packages: ScratchEnvironment, tmp_path: Path
) -> None:
    for name in ("lost-plugin", "kept-plugin"):
        assert packages.run("plugins", "add", wheel(tmp_path, name)).returncode == 0
    (packages.folder.parent / ".plugins/wheels/lost_plugin-1.0-py3-none-any.whl").unlink()
    done = packages.run("plugins", "restore")
    assert done.returncode == 4
    assert "lost-plugin: " in done.stderr
    assert "kept-plugin is there" in done.stdout
    assert "copycat plugins remove NAME" in done.stderr
