"""`python -m copycat_executor.queryengine`: lines in, lines out, until the executor closes our input."""

from __future__ import annotations

import logging
import os
import queue
import threading
from collections.abc import Callable
from functools import partial
from typing import Final, assert_never

from copycat_connect.config.secrets import Secrets
from copycat_connect.config.worker_keys import LOG_LEVEL
from copycat_telemetry.logs import configure_logging, set_level
from copycat_telemetry.output import take_output

from copycat_executor.pipes.child import LineWriter, obey_lines, read_first, take_pipes
from copycat_executor.pipes.messages import Ask, Ping, Ready, SetLevel
from copycat_executor.pipes.query_messages import (
    FIRST_LINE,
    TO_QUERIES,
    AnyQueryCall,
    CheckRowText,
    PrepareQuery,
    RunQuery,
    ToQueries,
)
from copycat_executor.spark.conf import OWN
from copycat_executor.spark.queries import CONF, SparkQueries
from copycat_executor.spark.session import start_spark

#: For the JVM to end; then by force.
JVM_STOP_TIMEOUT_SECONDS: Final = 3.0
Job = Callable[[], None]
log = logging.getLogger(__name__)


class Engine:
    """Runs queries in their order in a thread of its own; answers pings meanwhile."""

    def __init__(self, queries: SparkQueries, out: LineWriter) -> None:
        self._queries = queries
        self._out = out
        self._jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
        threading.Thread(target=self._work, name="queries", daemon=True).start()

    def obey(self, message: ToQueries) -> None:
        """Begin what a message asks for; the answer to a call follows in a line of its own."""
        match message:
            case Ask(number=number, call=call):
                self._begin(number, call)
            case SetLevel(logger=logger, level=level):
                set_level(logger, level)
            case _:
                assert_never(message)

    def _begin(self, number: int, call: AnyQueryCall) -> None:
        queries, reply = self._queries, self._out.reply
        match call:
            case Ping():
                reply(number, call, lambda: None, str)
            case PrepareQuery(sql=sql, columns=columns):
                _hide(sql)
                self._jobs.put(partial(reply, number, call, partial(queries.prepare, sql, columns), str))
            case CheckRowText(text=text, kind=kind, repeatable=repeatable, tables=tables, state=state):
                _hide(text)
                check = partial(
                    queries.check, text, kind=kind, repeatable=repeatable, tables=tables, state=state
                )
                self._jobs.put(partial(reply, number, call, check, str))
            case RunQuery(sql=sql, columns=columns, batch=batch):
                _hide(sql)
                self._jobs.put(partial(reply, number, call, partial(queries.run, sql, columns, batch), str))
            case _:
                assert_never(call)

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            try:
                job()
            except Exception:  # its answer could not be written: the queries after it must not wait for ever
                log.exception("a query could not be answered")


def _hide(sql: str) -> None:
    """Keep a query out of the log: it may hold what placeholders stood for."""
    Secrets.of({sql: "(a query)"}).hide()


def main() -> None:
    """Start Spark, then run queries; end with the executor, or when Spark's JVM does."""
    lines, answers = take_pipes()
    output = take_output("queries")
    configure_logging("queries", LOG_LEVEL.default, output.stderr)  # for a first line nobody can read
    worker = read_first(lines, FIRST_LINE).worker
    configure_logging("queries", worker.get(LOG_LEVEL.name, LOG_LEVEL.default), output.stderr)
    # PySpark logs every error it raises, stack traces and all; ours go to whoever asked.
    logging.getLogger("SQLQueryContextLogger").disabled = True
    own = {key: worker[key] for key in OWN if key in worker}
    spark = start_spark({**own, **CONF})
    out = LineWriter(answers)
    engine = Engine(SparkQueries(spark.session), out)
    # Without its JVM the engine is nothing: the executor starts another.
    spark.jvm.when_ended(os._exit)
    out.write(Ready())
    code = obey_lines(lines, TO_QUERIES, engine.obey)
    spark.jvm.stop(JVM_STOP_TIMEOUT_SECONDS)
    os._exit(code)  # a query that hangs must not keep the process


if __name__ == "__main__":
    main()
