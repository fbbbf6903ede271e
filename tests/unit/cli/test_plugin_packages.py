"""What `copycat plugins add` takes, where it records what was added, and which word may be left out."""

from __future__ import annotations

from pathlib import Path

import pytest
from copycat_cli.errors import PluginPackageError, UsageError
from copycat_cli.packages.record import Kind, PackageRecord, Recorded, read_source, record_folder

from tests.unit.cli.conftest import Run


def a_folder(tmp_path: Path, text: str = '[project]\nname = "My.Plugin"\n') -> Path:
    (tmp_path / "pyproject.toml").write_text(text)
    return tmp_path


def test_a_folder_is_installed_in_place_under_the_name_in_its_pyproject(tmp_path: Path) -> None:
    source = read_source(str(a_folder(tmp_path)))
    assert (source.kind, source.name) == (Kind.FOLDER, "my-plugin")
    assert source.arguments == ("--editable", str(tmp_path))


def test_a_package_may_have_a_version_and_extras() -> None:
    source = read_source("Copycat_Orders[fast]>=1.2,<2")
    assert (source.kind, source.name) == (Kind.PACKAGE, "copycat-orders")


def test_a_wheel_is_known_by_its_file_name(tmp_path: Path) -> None:
    file = tmp_path / "my_plugin-1.0-py3-none-any.whl"
    file.touch()
    assert read_source(str(file)).name == "my-plugin"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("./nowhere", "no folder"),
        ("nowhere.whl", "no wheel"),
        ("two words", "not the name of a package"),
        ("--pre", "not the name of a package"),
        ("plugin @ https://user:s3cret@example.org/plugin.whl", "download the wheel"),
    ],
)
def test_what_cannot_be_installed_is_refused_before_anything_is_done(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why) as refused:
        read_source(text)
    assert "s3cret" not in refused.value.message


@pytest.mark.parametrize(
    ("text", "why"),
    [("[project]\nname =", "not valid TOML"), ("[tool.x]\n", "no name"), ("project = 1", "no name")],
)
def test_a_folder_with_a_wrong_pyproject_is_refused_with_the_reason(
    tmp_path: Path, text: str, why: str
) -> None:
    with pytest.raises(UsageError, match=why):
        read_source(str(a_folder(tmp_path, text)))


def test_a_folder_without_pyproject_and_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"has no pyproject\.toml"):
        read_source(str(tmp_path))
    file = tmp_path / "plugin.jar"
    file.touch()
    with pytest.raises(UsageError, match="not a wheel"):
        read_source(str(file))


def test_the_record_outlives_the_environment_of_a_checkout() -> None:
    assert record_folder(Path("/work/copycat/.venv")) == Path("/work/copycat/.plugins")
    assert record_folder(Path("/opt/copycat")) == Path("/opt/copycat/.plugins")


def test_the_record_keeps_the_order_and_one_entry_for_each_package(tmp_path: Path) -> None:
    record = PackageRecord(tmp_path / "new")
    for name, version in (("a", "1"), ("b", "1"), ("a", "2")):
        record.put(Recorded(name, Kind.PACKAGE, f"{name}=={version}", [name]))
    assert [each.source for each in record.read()] == ["a==2", "b==1"]
    record.forget("a")
    assert [each.name for each in record.read()] == ["b"]


def test_a_record_that_cannot_be_read_is_named_and_not_written_over(tmp_path: Path) -> None:
    file = tmp_path / "plugins.json"
    file.write_text("{")
    with pytest.raises(PluginPackageError, match=r"plugins\.json"):
        PackageRecord(tmp_path).put(Recorded("a", Kind.PACKAGE, "a==1"))
    assert file.read_text() == "{"


def test_the_word_show_may_be_left_out(run: Run) -> None:
    assert run("plugins", "--all").stdout == run("plugins", "show", "--all").stdout
    assert run("plugins", "FileStreamSource").stdout == run("plugins", "show", "FileStreamSource").stdout
    assert "add" in run("plugins", "--help").stdout


def test_a_bad_name_ends_with_the_exit_code_of_a_wrong_command_line(run: Run) -> None:
    done = run("plugins", "add", "two words")
    assert (done.exit_code, done.stderr.startswith("copycat plugins add: 'two words'")) == (2, True)
