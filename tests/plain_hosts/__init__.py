"""Whole systems without Spark's JVM, for tests that are not about Spark: hosts are plain processes.

Spark costs an executor five seconds of CPU and 300 MB before its first task. What the executor asks of Spark
is little: a job of one partition that runs a host, and its end. `path/plain_spark.py` answers that with a
process that forks, so that all of the executor's own code runs as it is. About ten files keep Spark.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

#: Python imports `sitecustomize` from here when it starts; that of an executor replaces Spark.
PATH: Final = Path(__file__).with_name("path")


def on_plain_hosts(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return what to add to the environment of a system so that its executors start no JVM.

    Args:
        environment: What else is added; a PYTHONPATH there is kept.
    """
    given = dict(environment or {})
    below = given.get("PYTHONPATH", os.environ.get("PYTHONPATH", ""))
    return {**given, "PYTHONPATH": os.pathsep.join(part for part in (str(PATH), below) if part)}
