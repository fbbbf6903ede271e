"""Makes the class archive of Spark's JVM, by one run of what the start of a host needs.

`python -m copycat_executor.spark.make_archive` makes it (about 20 s, for an installation or an image).
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from copycat_connect.java_runtime import ClassArchive

from copycat_executor.spark.archive import archive_file, make_options
from copycat_executor.spark.command import find_java
from copycat_executor.spark.conf import session_conf
from copycat_executor.spark.session import start_context
from copycat_executor.spark.worker import idle

#: How long a JVM that writes its archive may take to end.
WRITE_TIMEOUT_SECONDS = 120.0


def make_archive(properties: Mapping[str, str]) -> Path | None:
    """Make the class archive unless it is there; returns its file, or None when this Java can make none.

    Blocks for about 20 s when it makes one.

    Raises:
        NoJavaError: There is no Java.
        SparkLostError: The JVM did not come up.
    """
    java = find_java(properties)
    kind = ClassArchive.of(java)
    file = archive_file(java, properties, kind)
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=file.parent) as folder:
            fresh = Path(folder) / file.name
            spark = start_context(java, session_conf(properties), make_options(kind, fresh), quiet=True)
            spark.context.parallelize([""], 1).mapPartitions(idle).collect()
            spark.stop(WRITE_TIMEOUT_SECONDS)
            if fresh.is_file():
                fresh.replace(file)  # at once: another executor may be starting
    return file if file.is_file() else None


def main() -> int:
    """Make the archive and print where it is; the exit code is 0, as Spark starts without it too."""
    made = make_archive({})
    sys.stdout.write(f"{made or 'this Java makes no archive; Spark starts without'}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
