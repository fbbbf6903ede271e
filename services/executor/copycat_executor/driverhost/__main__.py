"""`python -m copycat_executor.driverhost`: the spec of a host and Spark's properties as JSON on stdin."""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, NoReturn

from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_executor.domain.errors import SparkLostError
from copycat_executor.driverhost.sink_run import spark_sink_run
from copycat_executor.driverhost.source_run import spark_source_run
from copycat_executor.pipeline.task.call_log import CallLog
from copycat_executor.pipeline.task.task_frame import TaskFrame
from copycat_executor.spark.driver_launcher import CLUSTER_LOST
from copycat_executor.spark.range_jobs import RangeJobs
from copycat_executor.spark.session import Spark, start_driver
from copycat_executor.spark.state_queries import StateQueries
from copycat_executor.spark.unit_jobs import UnitJobs
from copycat_executor.taskhost.entry import run_host
from copycat_executor.taskhost.order import TaskOrder
from copycat_executor.taskhost.spec import HostSpec

#: For the JVM to end; then by force.
JVM_STOP_TIMEOUT_SECONDS: Final = 3.0


def main() -> NoReturn:
    """Start Spark, then run the host until its executor ends it; end when Spark's JVM does."""
    # Ctrl-C reaches every process of a terminal; the executor then drains its hosts.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    given = json.load(sys.stdin)
    spark = _start(given["properties"])
    spark.jvm.when_ended(os._exit)
    spark.when_stopped(partial(os._exit, CLUSTER_LOST))
    # PySpark logs every error it raises, stack traces and all; ours go to the task's status.
    logging.getLogger("SQLQueryContextLogger").disabled = True
    run_host(HostSpec.from_json(given["spec"]), _run_maker(spark))
    spark.stop(JVM_STOP_TIMEOUT_SECONDS)
    os._exit(0)  # threads that wait for Spark must not keep the process


def _start(properties: Mapping[str, str]) -> Spark:
    try:
        return start_driver(properties)
    except SparkLostError as error:
        sys.stderr.write(f"{error}\n")
        os._exit(CLUSTER_LOST)


def _run_maker(spark: Spark) -> Callable[..., TaskFrame]:
    sources, queries, sinks = UnitJobs(spark), StateQueries(spark), RangeJobs(spark)

    def run(order: TaskOrder, spec: PluginSpec, *given: Any, calls: CallLog) -> TaskFrame:  # noqa: ANN401
        if spec.kind is PluginKind.SINK:
            return spark_sink_run(order, spec, *given, calls=calls, jobs=sinks)
        return spark_source_run(order, spec, *given, calls=calls, jobs=sources, queries=queries)

    return run


if __name__ == "__main__":
    main()
