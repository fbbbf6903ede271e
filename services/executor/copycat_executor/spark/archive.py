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

from copycat_executor.spark.command import Java, spark_home

FOLDER = "spark.class.archive.dir"
#: From this Java on an AOT cache, which needs no archive inside the Java image; before, class data sharing.
AOT_SINCE = 25
CDS, AOT = "jsa", "aot"
USES = {CDS: "-XX:SharedArchiveFile", AOT: "-XX:AOTCache"}
ERRORS_ONLY = ("-Xlog:disable", "-Xlog:all=error:stderr")
MAKES = {CDS: "-XX:ArchiveClassesAtExit", AOT: "-XX:AOTCacheOutput"}


def archive_file(java: Java, properties: Mapping[str, str], kind: str) -> Path:
    """Return where the archive for this Java and PySpark is, or would be."""
    program = java.program.resolve()
    key = f"{program} {program.stat().st_mtime_ns} {pyspark.__version__} {spark_home()}"
    return _folder(properties) / f"hosts-{hashlib.sha256(key.encode()).hexdigest()[:16]}.{kind}"


def use_options(java: Java, properties: Mapping[str, str]) -> tuple[str, ...]:
    """Return the JVM options that use an archive; none when there is none."""
    for kind, option in USES.items():
        file = archive_file(java, properties, kind)
        if file.is_file():
            return (f"{option}={file}", *ERRORS_ONLY)
    return ()


def kind_for(java: Java) -> str:
    """Return which kind of archive this Java makes best; asks the program itself."""
    return AOT if java.version() >= AOT_SINCE else CDS


def make_options(kind: str, file: Path) -> tuple[str, ...]:
    """Return the JVM options that write an archive when the JVM ends."""
    return (f"{MAKES[kind]}={file}", *ERRORS_ONLY)


def _folder(properties: Mapping[str, str]) -> Path:
    given = properties.get(FOLDER)
    if given:
        return Path(given)
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "copycat" / "classes"
