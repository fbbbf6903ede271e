"""When a class archive is made, used, kept and not trusted."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from copycat_connect.java_runtime import Java
from copycat_embedded.class_archive import class_archive


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
