"""When a class archive is made, used, kept and not trusted.

Which jars are used, and what is refused.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from copycat_connect.java_runtime import Java
from copycat_connect.kafka_version import KAFKA_VERSION
from copycat_embedded.errors import JarError
from copycat_embedded.jars import ensure_jars, verify
from copycat_embedded.jvm import class_archive
from copycat_embedded.lock import Jar, locked


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
