"""The class archive of Spark's JVM: made once per Java and PySpark, it halves every later start.

This module knows where it is and which options use or write it; `make_archive` makes it. A JVM that cannot
use it starts without it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

import pyspark
from copycat_connect.java_runtime import ClassArchive, Java

from copycat_executor.spark.command import spark_home

FOLDER = "spark.class.archive.dir"
#: How a file's name ends, by what is in it.
SUFFIX = {ClassArchive.CDS: "jsa", ClassArchive.AOT: "aot"}
ERRORS_ONLY = ("-Xlog:disable", "-Xlog:all=error:stderr")


def archive_file(java: Java, properties: Mapping[str, str], kind: ClassArchive) -> Path:
    """Return where the archive for this Java and PySpark is, or would be."""
    program = java.executable
    key = f"{program} {program.stat().st_mtime_ns} {pyspark.__version__} {spark_home()}"
    return _folder(properties) / f"spark-{hashlib.sha256(key.encode()).hexdigest()[:16]}.{SUFFIX[kind]}"


def use_options(java: Java, properties: Mapping[str, str]) -> tuple[str, ...]:
    """Return the JVM options that use an archive; nothing without one."""
    for kind in ClassArchive:
        file = archive_file(java, properties, kind)
        if file.is_file():
            return (kind.use(file), *ERRORS_ONLY)
    return ()


def make_options(kind: ClassArchive, file: Path) -> tuple[str, ...]:
    """Return the JVM options that write an archive when the JVM ends."""
    return (kind.make(file), *ERRORS_ONLY)


def _folder(properties: Mapping[str, str]) -> Path:
    given = properties.get(FOLDER)
    if given:
        return Path(given)
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "copycat" / "classes"
