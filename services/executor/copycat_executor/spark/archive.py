"""The class archive of Spark's JVM: made once per Java and PySpark, it halves every later start.

`python -m copycat_executor.spark.archive` makes it (about 20 s, for an installation or an image). A JVM that
cannot use it starts without it.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pyspark

from copycat_executor.spark.command import Java

FOLDER = "spark.class.archive.dir"


def archive_file(java: Java, properties: Mapping[str, str]) -> Path:
    """Return where the archive for this Java and PySpark is, or would be."""
    program = java.program.resolve()
    key = f"{program} {program.stat().st_mtime_ns} {pyspark.__version__} {Path(pyspark.__file__).parent}"
    name = f"spark-{hashlib.sha256(key.encode()).hexdigest()[:16]}.archive"
    return _folder(properties) / name


def use_options(file: Path) -> tuple[str, ...]:
    """Return the JVM options that use an archive; none when there is none."""
    if not file.is_file():
        return ()
    return (f"-XX:SharedArchiveFile={file}",)


def make_options(file: Path) -> tuple[str, ...]:
    """Return the JVM options that write an archive when the JVM ends."""
    return (f"-XX:ArchiveClassesAtExit={file}", "-Xlog:cds=off", "-Xlog:cds+dynamic=off")


def _folder(properties: Mapping[str, str]) -> Path:
    given = properties.get(FOLDER)
    if given:
        return Path(given)
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "copycat" / "classes"


def main() -> int:
    """Make the archive unless it is there."""
    from copycat_executor.spark.session import make_archive  # noqa: PLC0415 - the session imports this module

    sys.stdout.write(f"{make_archive({})}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
