"""The configuration of the Spark session: what hosts need and nothing that idles."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from copycat_executor.settings import DEFAULT_DRIVER_MEMORY, DRIVER_MASTER, DRIVER_MEMORY

MASTER = "spark.master"
PREFIX = "spark."
JAVA_OPTIONS = "spark.driver.extraJavaOptions"
#: Keys of ours that Spark need not see.
OWN = ("spark.java.home", "spark.class.archive.dir", "spark.drivers.max", DRIVER_MASTER, DRIVER_MEMORY)
#: Other users of this machine reach the ports of a local session, too; Spark makes the secret by itself.
GUARDED = {"spark.authenticate": "true"}
#: Nobody else has to reach a local session, whatever addresses are set for those on a cluster.
LOOPBACK = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
#: Jobs, stages, tasks and queries the driver remembers.
RETAINED_IN_UI = "20"
DEFAULTS = {
    "spark.app.name": "copycat",
    "spark.driver.memory": "128m",
    # Spark wants 450 MB of heap without a setting; a driver of hosts uses 60 MB.
    "spark.testing.reservedMemory": "16777216",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.ui.retainedJobs": RETAINED_IN_UI,
    "spark.ui.retainedStages": RETAINED_IN_UI,
    "spark.ui.retainedTasks": RETAINED_IN_UI,
    "spark.sql.ui.retainedExecutions": RETAINED_IN_UI,
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Only the query engine has plans, for a batch at a time: they are interpreted, not compiled.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.python.daemon.module": "copycat_executor.spark.daemon",
    # Each host is a fresh fork of the daemon, so that a recycled host really leaves its memory behind.
    "spark.python.worker.reuse": "false",
    "spark.python.task.killTimeout": "1s",
    # A lost host is for the executor to replace, not for Spark to repeat.
    "spark.task.maxFailures": "1",
    "spark.stage.maxConsecutiveAttempts": "1",
    "spark.locality.wait": "0",
    "spark.rpc.netty.dispatcher.numThreads": "2",
    "spark.executorEnv.OPENBLAS_NUM_THREADS": "1",
}
#: The most partitions that a driver reads at a time.
DRIVER_SLOTS = 64
#: More than a file has. With such a cost of opening it, each file is a partition of its own.
_ANY_SIZE = str(1 << 60)
#: A file is read in one partition, in its order; what fails is repeated by us, who know the offsets.
DRIVER = {
    "spark.app.name": "copycat-driver",
    "spark.speculation": "false",
    "spark.python.worker.reuse": "true",
    "spark.default.parallelism": "2",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "true",
    # Types of Parquet that Spark otherwise refuses: times of day, and moments in nanoseconds, which it hands
    # out as numbers.
    "spark.sql.timeType.enabled": "true",
    "spark.sql.legacy.parquet.nanosAsLong": "true",
    "spark.sql.files.minPartitionNum": "1",
    "spark.sql.files.maxPartitionBytes": _ANY_SIZE,
    "spark.sql.files.openCostInBytes": _ANY_SIZE,
    # Looking at the files of a group is no work for jobs.
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "10000",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "4000",
}
#: Plans are compiled and run for long: unlike the JVM of hosts it takes the better compiler.
DRIVER_JAVA = "-XX:TieredStopAtLevel=4 -XX:+ExitOnOutOfMemoryError -XX:NewRatio=2"
#: On a cluster a driver has an executor of one core for each partition that works, and gives those back that
#: had nothing to do for a minute: it need not know `tasks.max`, which may change, and holds no idle core.
ON_CLUSTER = {
    "spark.cores.max": str(DRIVER_SLOTS),
    "spark.executor.cores": "1",
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.maxExecutors": str(DRIVER_SLOTS),
}
#: What the worker may set otherwise there.
ON_CLUSTER_UNLESS_SET = {
    "spark.executor.extraJavaOptions": "-XX:+UseSerialGC -XX:NewRatio=2",
    "spark.dynamicAllocation.initialExecutors": "1",  # comes up while the driver does
    "spark.dynamicAllocation.executorIdleTimeout": "60s",
}


def default_slots() -> int:
    """Return the slots of one machine: logical, since most hosts wait for I/O most of the time."""
    return max(8, 4 * (os.cpu_count() or 1))


def is_local(master: str) -> bool:
    """Return whether a master of Spark is this machine, and no cluster."""
    return master.startswith("local")


def slots_of(properties: Mapping[str, str]) -> int:
    """Return how many hosts may run at a time: the N of `local[N]`, on a cluster `spark.cores.max`."""
    master = properties.get(MASTER, "")
    if is_local(master):
        inner = master.removeprefix("local[").rstrip("]").split(",")[0]
    else:
        inner = properties.get("spark.cores.max", "")
    return int(inner) if inner.isdigit() and int(inner) > 0 else default_slots()


def session_conf(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the session's configuration: our defaults, then whatever `spark.*` the worker sets."""
    given = {key: value for key, value in properties.items() if key.startswith(PREFIX) and key not in OWN}
    conf = {MASTER: f"local[{default_slots()}]", **DEFAULTS, **given}
    return {**GUARDED, **conf, **LOOPBACK} if is_local(conf[MASTER]) else conf


def driver_conf(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the configuration of the session of a driver.

    Its partitions run where `spark.drivers.master` says, else on the cluster on which hosts run, else here.
    """
    memory = properties.get(DRIVER_MEMORY) or DEFAULT_DRIVER_MEMORY
    master = properties.get(DRIVER_MASTER) or properties.get(MASTER, "local")
    if is_local(master) and not properties.get(DRIVER_MASTER):
        master = f"local[{DRIVER_SLOTS}]"  # not the number of hosts
    conf = {**session_conf({**properties, MASTER: master}), **DRIVER, "spark.driver.memory": memory}
    conf[JAVA_OPTIONS] = f"{DRIVER_JAVA} {properties.get(JAVA_OPTIONS, '')}"  # of two, Java takes the last
    if is_local(master):
        return conf
    return {**ON_CLUSTER_UNLESS_SET, **conf, **ON_CLUSTER, "spark.executor.memory": memory}


def python_of_hosts(conf: Mapping[str, str], environment: Mapping[str, str]) -> str:
    """Return the Python program that runs hosts and partitions, for the configuration of a session.

    On this machine it is the one that runs the executor, with its packages and plugins: a `PYSPARK_PYTHON`
    that is set for other programs of the user would lead to another. On a cluster that variable names it.
    """
    default = sys.executable
    if not is_local(conf[MASTER]):
        default = environment.get("PYSPARK_PYTHON", default)
    return conf.get("spark.pyspark.python", default)
