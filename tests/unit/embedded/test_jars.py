"""Which jars are used, and what is refused."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from copycat_connect.kafka_version import KAFKA_VERSION
from copycat_embedded.errors import JarError
from copycat_embedded.jars import ensure_jars, verify
from copycat_embedded.lock import Jar, locked


def test_every_jar_of_every_set_has_a_hash() -> None:
    jars = locked(("broker", "connect", "registry"))
    assert all(len(jar.sha256) == 64 and jar.coordinate.count(":") in (2, 4) for jar in jars)


def test_a_file_is_named_as_maven_names_it() -> None:
    assert Jar("g:a:1", "").file_name == "a-1.jar"
    assert Jar("g:a:tar.gz:all:1", "").file_name == "a-1-all.tar.gz"


def test_a_jar_two_sets_share_appears_once() -> None:
    names = [jar.file_name for jar in locked(("broker", "connect"))]
    assert len(names) == len(set(names))
    assert names.count("kafka-clients-4.3.1.jar") == 1


def test_the_locked_kafka_is_the_release_whose_interface_is_offered() -> None:
    kafkas = [jar for jar in locked(("broker", "connect")) if jar.coordinate.startswith("org.apache.kafka:")]
    assert {jar.coordinate.rpartition(":")[2] for jar in kafkas} == {KAFKA_VERSION}


def test_the_broker_has_a_logging_binding() -> None:
    assert "log4j-slf4j-impl" in {jar.coordinate.split(":")[1] for jar in locked(("broker",))}


def test_a_given_folder_without_the_jars_is_refused_by_name_and_nothing_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COPYCAT_JARS", str(tmp_path))
    with pytest.raises(JarError, match=r"COPYCAT_JARS=.* lacks .*kafka_2\.13-4\.3\.1\.jar.*Copy them there"):
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
