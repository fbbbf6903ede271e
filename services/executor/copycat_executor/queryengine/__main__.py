"""`python -m copycat_executor.queryengine`: lines in, lines out, until the parent closes our input."""

from __future__ import annotations

import logging
import os
import queue
import sys
import threading
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

from copycat_connect.config.worker_keys import LOG_LEVEL
from copycat_telemetry.logs import configure_logging

from copycat_executor.connectorhost.failures import failure
from copycat_executor.connectorhost.lines import LineWriter, from_line, take_pipes
from copycat_executor.spark.conf import OWN
from copycat_executor.spark.queries import CONF, SparkQueries
from copycat_executor.spark.session import start_spark

#: For the JVM to end, seconds; then by force.
STOP = 3.0
Request = Mapping[str, Any]


def main() -> None:
    """Take the worker's properties from the first line, start Spark, then run queries in their order."""
    lines, answers = take_pipes()
    hello = from_line(lines.readline())
    configure_logging("queries", hello["worker"].get(LOG_LEVEL.name, LOG_LEVEL.default))
    # PySpark logs every error it raises, stack traces and all; ours go to whoever asked.
    logging.getLogger("SQLQueryContextLogger").disabled = True
    own = {key: hello["worker"][key] for key in OWN if key in hello["worker"]}
    spark = start_spark({**own, **CONF})
    out = LineWriter(answers)
    waiting: queue.SimpleQueue[Request] = queue.SimpleQueue()
    worker = threading.Thread(target=_work, args=(SparkQueries(spark.session), waiting, out), daemon=True)
    worker.start()
    # Without its JVM the engine is nothing: the parent starts another.
    spark.jvm.when_ended(os._exit)
    out.write({"event": "ready"})
    for line in lines:
        request = from_line(line)
        if request["call"] == "ping":
            out.write({"id": request["id"], "result": None})
        else:
            waiting.put(request)
    spark.jvm.stop(STOP)
    os._exit(0)  # a query that hangs must not keep the process


def _work(queries: SparkQueries, waiting: queue.SimpleQueue[Request], out: LineWriter) -> None:
    while True:
        request = waiting.get()
        try:
            answer: dict[str, Any] = {"result": _answer(queries, request)}
        except Exception as error:  # the top of the loop: no query may end it
            answer = {"error": failure(error, str)}
        out.write({"id": request["id"], **answer})


def _answer(queries: SparkQueries, request: Request) -> str:
    if request["call"] == "prepare":
        return queries.prepare(request["sql"], request["columns"])
    rows = queries.run(request["sql"], request["columns"], b64decode(request["batch"]))
    return b64encode(rows).decode()


if __name__ == "__main__":
    main()
    sys.exit(0)
