"""diff, validate, edit, delete, restart, orders, topics; plugins and what may be added to them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from copycat_cli.errors import PluginPackageError, UsageError
from copycat_cli.packages.record import PackageKind, PackageRecord, Recorded, read_source, record_folder

from tests.unit.cli.conftest import PROPERTIES, Run
from tests.unit.cli.fake_connect import CAST, FakeConnect


def test_a_difference_ends_with_one(run: Run, connect: FakeConnect, file: Path) -> None:
    run("apply", file)
    same = run("diff", file)
    assert (same.exit_code, "are the same" in same.stdout) == (0, True)
    file.write_text(f"{PROPERTIES}tasks.max=2\n")
    differs = run("diff", file)
    assert differs.exit_code == 1
    assert "+  tasks.max           2" in differs.stdout
    connect.connectors.clear()
    assert run("diff", file).exit_code == 3


def test_validation_lists_each_key_and_changes_nothing(run: Run, connect: FakeConnect, file: Path) -> None:
    assert run("validate", file).exit_code == 0
    file.write_text(PROPERTIES.replace("topic=lines\n", ""))
    done = run("validate", file, "-o", "json")
    assert done.exit_code == 4
    assert json.loads(done.stdout)["errors"] == {"topic": ['Missing required configuration "topic".']}
    assert connect.changes == []


def test_an_edited_configuration_is_checked_and_put(run: Run, connect: FakeConnect) -> None:
    connect.add("lines")
    done = run("edit", "lines", EDITOR="sed -i s/in.txt/out.txt/")
    assert done.exit_code == 0, done.output
    assert "~  file  /in.txt  /out.txt" in done.stdout
    [(method, path, body)] = connect.changes
    assert (method, path, body["file"]) == ("PUT", "/connectors/lines/config", "/out.txt")


def test_an_editor_that_changes_nothing_changes_nothing(run: Run, connect: FakeConnect) -> None:
    connect.add("lines")
    assert run("edit", "lines", EDITOR="true").stdout == "lines unchanged\n"
    assert connect.changes == []


def test_an_invalid_edit_is_kept_for_later(run: Run, connect: FakeConnect) -> None:
    connect.add("lines")
    done = run("edit", "lines", EDITOR="sed -i s/topic=.*//")
    assert done.exit_code == 4
    assert '  topic: Missing required configuration "topic".' in done.stderr
    kept = Path(done.stderr.rpartition("copycat apply ")[2].split()[0])
    assert "file=/in.txt" in kept.read_text()
    kept.unlink()
    assert connect.changes == []


def test_an_editor_that_fails_is_wrong_usage(run: Run, connect: FakeConnect) -> None:
    connect.add("lines")
    done = run("edit", "lines", EDITOR="false")
    assert done.exit_code == 2
    assert "EDITOR" in done.stderr


def test_deleting_asks_first(run: Run, connect: FakeConnect) -> None:
    connect.add("lines")
    declined = run("delete", "lines", said="n\n")
    assert (declined.exit_code, list(connect.connectors)) == (1, ["lines"])
    assert "Nothing was changed" in declined.stderr
    assert run("delete", "lines").exit_code == 1  # nobody answers
    deleted = run("delete", "lines", said="y\n")
    assert (deleted.exit_code, deleted.stdout) == (0, "lines deleted; its topics and offsets stay\n")
    assert connect.connectors == {}


def test_nothing_is_deleted_when_one_is_unknown(run: Run, connect: FakeConnect) -> None:
    connect.add("lines")
    assert run("delete", "lines", "other", "--yes").exit_code == 3
    assert list(connect.connectors) == ["lines"]


@pytest.mark.parametrize("order", ["pause", "resume", "stop"])
def test_an_order_is_given_and_the_way_back_told(run: Run, connect: FakeConnect, order: str) -> None:
    connect.add("lines")
    done = run(order, "lines")
    assert done.exit_code == 0
    assert connect.changes == [("PUT", f"/connectors/lines/{order}", None)]
    assert "copycat status lines --wait-for" in done.stderr


@pytest.mark.parametrize(
    ("words", "path", "said"),
    [
        ((), "/connectors/lines/restart", "restarted connector"),
        (("--include-tasks", "--only-failed"), "/connectors/lines/restart", "restarted task 0"),
        (("--task", "0"), "/connectors/lines/tasks/0/restart", "restarted task 0"),
    ],
)
def test_a_restart_says_what_it_restarted(
    run: Run, connect: FakeConnect, words: tuple[str, ...], path: str, said: str
) -> None:
    connect.add("lines")
    done = run("restart", "lines", *words)
    assert said in done.stdout
    assert connect.changes == [("POST", path, None)]


def test_a_task_is_not_restarted_together_with_others(run: Run, connect: FakeConnect) -> None:
    connect.add("lines")
    assert run("restart", "lines", "--task", "0", "--include-tasks").exit_code == 2


def test_used_topics_are_shown_and_forgotten(run: Run, connect: FakeConnect) -> None:
    connect.add("lines", topics=["b", "a"])
    assert run("topics", "get", "lines").stdout == "TOPIC\na\nb\n"
    assert run("topics", "reset", "lines").exit_code == 0
    assert run("topics", "get", "lines").stdout == "lines has used no topics yet.\n"


def test_plugins_are_listed_by_the_name_a_configuration_may_use(run: Run) -> None:
    assert "FileStreamSource  source  4.4.0" in run("plugins").stdout
    keys = run("plugins", "FileStreamSource").stdout
    assert "topic *            STRING             What topic is, e.g. this ... such" in keys
    unknown = run("plugins", "FileStreamSorce")
    assert unknown.exit_code == 3
    assert "FileStreamSource" in unknown.stderr.partition("Names like it: ")[2]


def test_a_nested_class_is_listed_by_its_whole_name_since_no_other_is_accepted(run: Run) -> None:
    rows = [line.split() for line in run("plugins", "--all").stdout.splitlines()]
    assert [CAST, "transformation", "4.4.0", CAST] in rows


@pytest.mark.parametrize("name", ["Cast$Value", "cast$Key"])
def test_the_short_name_of_a_nested_class_is_refused_with_the_whole_one(run: Run, name: str) -> None:
    done = run("plugins", name)
    assert done.exit_code == 3
    assert f"Unknown plugin {name}. Names like it: {CAST};" in done.stderr


def test_plugins_that_cannot_be_loaded_are_listed_with_the_reason(run: Run, connect: FakeConnect) -> None:
    assert "not loadable" not in run("plugins").stdout
    assert run("plugins", "--unloadable").stdout == "Every installed plugin can be loaded.\n"
    broken = {
        "package": "acme",
        "package_version": "2.1",
        "entry_point": "orders = acme.plugin",
        "reason": "ImportError: no driver",
    }
    connect.broken = [broken]

    shown = run("plugins").stdout

    assert "FileStreamSource  source  4.4.0" in shown
    assert "acme     2.1      orders = acme.plugin  ImportError: no driver" in shown
    assert json.loads(run("plugins", "--unloadable", "-o", "json").stdout) == [broken]
    assert "acme" not in run("plugins", "-o", "json").stdout


def test_log_levels_are_shown_and_set(run: Run, connect: FakeConnect) -> None:
    assert run("logs", "level").stdout == "LOGGER  LEVEL\nroot    INFO\n"
    assert run("logs", "level", "nobody").exit_code == 3
    done = run("logs", "level", "a.b", "debug")
    assert "a.b logs DEBUG on this worker, for a.b, a.b.child" in done.stdout
    done = run("logs", "level", "a.b", "DEBUG", "--scope", "cluster")
    assert "on every worker" in done.stdout
    assert connect.changes[-1] == ("PUT", "/admin/loggers/a.b", {"level": "DEBUG"})


def a_folder(tmp_path: Path, text: str = '[project]\nname = "My.Plugin"\n') -> Path:
    (tmp_path / "pyproject.toml").write_text(text)
    return tmp_path


def test_a_folder_is_installed_in_place_under_the_name_in_its_pyproject(tmp_path: Path) -> None:
    source = read_source(str(a_folder(tmp_path)))
    assert (source.kind, source.name) == (PackageKind.FOLDER, "my-plugin")
    assert source.arguments == ("--editable", str(tmp_path))


def test_a_package_may_have_a_version_and_extras() -> None:
    source = read_source("Copycat_Orders[fast]>=1.2,<2")
    assert (source.kind, source.name) == (PackageKind.PACKAGE, "copycat-orders")


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
        record.put(Recorded(name, PackageKind.PACKAGE, f"{name}=={version}", [name]))
    assert [each.source for each in record.read()] == ["a==2", "b==1"]
    record.forget("a")
    assert [each.name for each in record.read()] == ["b"]


def test_a_record_that_cannot_be_read_is_named_and_not_written_over(tmp_path: Path) -> None:
    file = tmp_path / "plugins.json"
    file.write_text("{")
    with pytest.raises(PluginPackageError, match=r"plugins\.json"):
        PackageRecord(tmp_path).put(Recorded("a", PackageKind.PACKAGE, "a==1"))
    assert file.read_text() == "{"


def test_the_word_show_may_be_left_out(run: Run) -> None:
    assert run("plugins", "--all").stdout == run("plugins", "show", "--all").stdout
    assert run("plugins", "FileStreamSource").stdout == run("plugins", "show", "FileStreamSource").stdout
    assert "add" in run("plugins", "--help").stdout


def test_a_bad_name_ends_with_the_exit_code_of_a_wrong_command_line(run: Run) -> None:
    done = run("plugins", "add", "two words")
    assert (done.exit_code, done.stderr.startswith("copycat plugins add: 'two words'")) == (2, True)
