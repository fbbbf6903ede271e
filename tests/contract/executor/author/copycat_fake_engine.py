"""A query engine without Spark: what it does stands in the query."""

from __future__ import annotations

import logging
import os
from functools import partial
from pathlib import Path

from copycat_connect.errors import ConfigError
from copycat_executor.pipes.child import LineWriter, obey_lines, read_first, take_pipes
from copycat_executor.pipes.messages import Ask, Ping, Ready, SetLevel
from copycat_executor.pipes.query_messages import FIRST_LINE, TO_QUERIES, PrepareQuery, RunQuery, ToQueries
from copycat_telemetry.logs import configure_logging


def _schema(sql: str) -> str:
    what, _, argument = sql.partition(" ")
    if what == "die" or (what == "die-once" and not Path(argument).exists()):
        if what == "die-once":
            Path(argument).touch()
        os._exit(3)
    if what == "refuse":
        raise ConfigError(argument)
    if what == "level":
        return logging.getLevelName(logging.getLogger(argument).level)
    return f"made_by_{os.getpid()} BIGINT"


def _obey(out: LineWriter, message: ToQueries) -> None:
    match message:
        case SetLevel(logger=logger, level=level):
            logging.getLogger(logger).setLevel(level)
        case Ask(number=number, call=Ping() as call):
            out.reply(number, call, lambda: None, str)
        case Ask(number=number, call=RunQuery(batch=batch) as call):
            out.reply(number, call, lambda: batch[::-1], str)
        case Ask(number=number, call=PrepareQuery(sql=sql) as call) if sql != "hang":
            out.reply(number, call, partial(_schema, sql), str)


def main() -> None:
    """Answer pings and queries."""
    lines, answers = take_pipes()
    configure_logging("queries")
    read_first(lines, FIRST_LINE)
    out = LineWriter(answers)
    out.write(Ready())
    os._exit(obey_lines(lines, TO_QUERIES, partial(_obey, out)))


if __name__ == "__main__":
    main()
