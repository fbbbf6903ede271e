"""The configuration of Spark's session, and the folders of its temporary files."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from copycat_connect.errors import ConfigError
from copycat_connect.java_runtime import ClassArchive, Java, NoJavaError
from copycat_executor.settings import OF_CHILDREN
from copycat_executor.spark.archive import archive_file, use_options
from copycat_executor.spark.command import command_line, find_java
from copycat_executor.spark.conf import (
    JAVA_OPTIONS,
    default_slots,
    driver_conf,
    python_of_hosts,
    session_conf,
    slots_of,
)
from copycat_executor.spark.scratch import (
    FOLDER_PREFIX,
    LOCKED_WITHIN_SECONDS,
    ScratchFolder,
    remove_abandoned,
)


def test_a_local_master_says_how_many_hosts_there_may_be() -> None:
    assert slots_of({"spark.master": "local[3]"}) == 3
    assert slots_of({"spark.master": "local[3,1]"}) == 3


def test_on_a_cluster_the_cores_asked_for_are_the_slots() -> None:
    assert slots_of({"spark.master": "spark://a:1", "spark.cores.max": "6"}) == 6


def test_any_other_master_leaves_the_default() -> None:
    assert slots_of({}) == slots_of({"spark.master": "local[*]"}) == default_slots()
    assert slots_of({"spark.master": "spark://a:1"}) == default_slots()
    assert default_slots() >= 8


def test_worker_properties_override_the_session_and_nothing_else_reaches_it() -> None:
    conf = session_conf({"spark.driver.memory": "1g", "group.id": "x", "spark.java.home": "/j"})
    assert conf["spark.driver.memory"] == "1g"
    assert "group.id" not in conf
    assert "spark.java.home" not in conf


def test_a_local_session_listens_on_loopback_only() -> None:
    assert session_conf({})["spark.driver.bindAddress"] == "127.0.0.1"
    assert "spark.driver.bindAddress" not in session_conf({"spark.master": "spark://a:1"})


def test_on_this_machine_spark_asks_who_calls_and_on_a_cluster_its_administrator_decides() -> None:
    assert session_conf({})["spark.authenticate"] == "true"
    assert session_conf({"spark.authenticate": "false"})["spark.authenticate"] == "false"
    assert "spark.authenticate" not in session_conf({"spark.master": "spark://a:1"})


def test_a_given_java_home_without_java_is_named(tmp_path: Path) -> None:
    with pytest.raises(NoJavaError, match=r"spark\.java\.home names .*, not a working Java"):
        find_java({"spark.java.home": str(tmp_path)})


def test_a_java_that_cannot_run_spark_is_refused_with_its_version(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").touch()
    (tmp_path / "release").write_text('JAVA_VERSION="11.0.2"\n')
    with pytest.raises(NoJavaError, match=r"Java 11\. Install one and set spark\.java\.home"):
        find_java({"spark.java.home": str(tmp_path)})


def test_the_command_starts_sparks_gateway_with_the_heap_asked_for(tmp_path: Path) -> None:
    given = {"spark.driver.memory": "96m", "spark.authenticate.secret": "a-long-text"}
    command = command_line(Java(tmp_path / "java", 17), session_conf(given))
    assert command[0] == str(tmp_path / "java")
    assert "-Xmx96m" in command
    assert command[-1] == "pyspark-shell"
    assert "a-long-text" not in str(command), "who lists processes sees no secret"


@pytest.mark.parametrize("kind", ClassArchive)
def test_an_archive_is_used_only_when_it_is_there(tmp_path: Path, kind: ClassArchive) -> None:
    program = tmp_path / "bin" / "java"
    program.parent.mkdir()
    program.touch()
    properties = {"spark.class.archive.dir": str(tmp_path)}
    java = Java(program, 25)
    file = archive_file(java, properties, kind)
    assert use_options(java, properties) == ()
    file.touch()
    assert use_options(java, properties)[0] == kind.use(file)


def test_hosts_on_this_machine_run_on_our_own_python_whatever_pyspark_is_told_for_others() -> None:
    environment = {"PYSPARK_PYTHON": "/other/python"}
    assert python_of_hosts(session_conf({}), environment) == sys.executable
    named = session_conf({"spark.pyspark.python": "/set/python"})
    assert python_of_hosts(named, environment) == "/set/python"


def test_on_a_cluster_the_environment_names_the_python_of_hosts() -> None:
    cluster = session_conf({"spark.master": "spark://a:1"})
    assert python_of_hosts(cluster, {"PYSPARK_PYTHON": "/other/python"}) == "/other/python"
    assert python_of_hosts(cluster, {}) == sys.executable


def test_a_driver_has_its_own_memory_and_repeats_nothing() -> None:
    conf = driver_conf({"spark.drivers.memory": "2g", "spark.sql.x": "y", "spark.master": "local[4]"})
    assert conf["spark.master"] == "local[64]"
    assert conf["spark.driver.bindAddress"] == "127.0.0.1"
    assert conf["spark.driver.memory"] == "2g"
    assert conf["spark.sql.x"] == "y"
    assert conf["spark.task.maxFailures"] == "1"
    assert conf["spark.speculation"] == "false"
    assert "spark.drivers.memory" not in conf


def test_what_the_worker_says_to_java_comes_last() -> None:
    words = driver_conf({"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"})[JAVA_OPTIONS].split()
    assert words[0] == "-XX:TieredStopAtLevel=4"
    assert words[-1] == "-XX:TieredStopAtLevel=1"


def test_on_a_cluster_a_driver_takes_one_core_for_each_partition_that_works() -> None:
    given = {"spark.master": "spark://a:1", "spark.driver.host": "b", "spark.drivers.memory": "2g"}
    conf = driver_conf({**given, "spark.cores.max": "2", "spark.executor.cores": "2"})
    assert (conf["spark.master"], conf["spark.driver.host"]) == ("spark://a:1", "b")
    assert (conf["spark.executor.cores"], conf["spark.executor.memory"]) == ("1", "2g")
    assert conf["spark.dynamicAllocation.enabled"] == "true"
    assert conf["spark.cores.max"] == conf["spark.dynamicAllocation.maxExecutors"] == "64"
    assert conf["spark.task.maxFailures"] == "1"


def test_drivers_may_use_a_cluster_while_hosts_run_here() -> None:
    given = {"spark.drivers.master": "spark://a:1", "spark.driver.host": "b"}
    assert driver_conf(given)["spark.master"] == "spark://a:1"
    assert driver_conf(given)["spark.driver.host"] == "b"
    assert session_conf(given)["spark.master"].startswith("local[")
    assert session_conf(given)["spark.driver.host"] == "127.0.0.1"
    here = {"spark.master": "spark://a:1", "spark.drivers.master": "local[3]"}
    assert driver_conf(here)["spark.master"] == "local[3]"
    assert session_conf(here)["spark.master"] == "spark://a:1"


@pytest.mark.parametrize("master", ["sc://a:1", "spark", "local[x]", "a:7077"])
def test_a_master_of_drivers_that_spark_would_not_know_is_named(master: str) -> None:
    with pytest.raises(ConfigError, match=r"spark\.drivers\.master.*spark://HOST:7077"):
        OF_CHILDREN.parse({"spark.drivers.master": master})


OWNER = """
import signal
from copycat_executor.spark.scratch import ScratchFolder

folder = ScratchFolder()
(folder.path / "blockmgr-1").mkdir()
print(folder.path, flush=True)
signal.pause()
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_the_folder_is_for_its_owner_only_and_goes_when_it_is_removed(temporary: Path) -> None:
    folder = ScratchFolder()
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    folder.remove()
    folder.remove()
    assert list(temporary.iterdir()) == []


def test_a_folder_stays_while_its_owner_lives_and_goes_at_the_next_start_after_it_was_killed(
    temporary: Path,
) -> None:
    environment = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen(
        [sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True, env=environment
    ) as owner:
        try:
            assert owner.stdout is not None
            abandoned = Path(owner.stdout.readline().strip())
            mine = ScratchFolder()
            assert abandoned.exists()
        finally:
            owner.kill()
    ScratchFolder()
    assert not abandoned.exists()
    assert mine.path.exists()


def test_what_is_not_ours_is_left_alone(temporary: Path) -> None:
    others = temporary / "others"
    others.mkdir()
    (temporary / f"{FOLDER_PREFIX}link").symlink_to(others)
    (temporary / "spark-1").mkdir()
    remove_abandoned(temporary)
    assert len(list(temporary.iterdir())) == 3


def test_a_folder_that_is_being_made_is_left_and_one_that_never_got_its_lock_goes(temporary: Path) -> None:
    fresh, old = temporary / f"{FOLDER_PREFIX}fresh", temporary / f"{FOLDER_PREFIX}old"
    for folder in (fresh, old):
        folder.mkdir()
    long_ago = fresh.stat().st_mtime - 2 * LOCKED_WITHIN_SECONDS
    os.utime(old, (long_ago, long_ago))
    remove_abandoned(temporary)
    assert [each.name for each in temporary.iterdir()] == [fresh.name]
