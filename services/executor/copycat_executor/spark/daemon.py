"""The parent of the hosts on a machine: loads once what every host needs, then forks one for each.

Spark starts it as `spark.python.daemon.module`. A host forked from it takes 0.5 s of CPU less to start and
shares half of its 75 MB with the others.
"""

from __future__ import annotations

import gc
import importlib
import sys
from contextlib import suppress
from importlib.metadata import entry_points

from copycat_connect.plugin.loading import ENTRY_POINTS

#: Nothing here may start a thread when imported: a fork keeps only the thread that forks.
PRELOADED = (
    "pyspark.worker",
    "copycat_executor.taskhost.entry",
    "copycat_executor.spark.worker",
)
#: The package of the plugins that come with Copycat. Those of others are code that may do anything when it is
#: loaded: only a host, which can be lost, loads them.
OWN_PLUGINS = "copycat-plugins"


def preload() -> None:
    """Import what every host needs; a plugin that cannot be imported is for the host to report."""
    for name in PRELOADED:
        importlib.import_module(name)
    for entry_point in entry_points(group=ENTRY_POINTS):
        if entry_point.dist is not None and entry_point.dist.name == OWN_PLUGINS:
            with suppress(Exception):
                importlib.import_module(entry_point.module)


def leave_zips() -> None:
    """Take PySpark from its installed package and not from the zip files Spark puts on the path.

    A worker drops Python's path caches at each start (`invalidate_caches`); then the directory of each zip is
    read again, in Python: 0.1 s for Spark's.
    """
    sys.path[:] = [place for place in sys.path if not place.endswith((".zip", ".jar"))]
    for place in [place for place in sys.path_importer_cache if ".zip" in place or ".jar" in place]:
        del sys.path_importer_cache[place]


def main() -> None:
    """Preload, then serve Spark's requests for workers until it closes our input."""
    leave_zips()
    preload()
    gc.collect()
    gc.freeze()  # keeps the shared pages shared: the collector writes into every object it visits
    importlib.import_module("pyspark.daemon").manager()


if __name__ == "__main__":
    main()
