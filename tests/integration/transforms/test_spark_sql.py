"""SparkSql in a running system: analysed by Spark at validation, run on batches, killed in the middle."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from copycat_testkit.kafka import wait_until
from copycat_testkit.processes import command_line

from tests.integration.transforms.conftest import STRING, Pipe, Rest, source

pytestmark = [pytest.mark.timeout(400), pytest.mark.long]
CLASS = "copycat_plugins.transforms.spark_sql.SparkSql"
#: Makes structs of lines such as `7,some text`.
ROWS = (
    "SELECT CAST(split(value, ',')[0] AS BIGINT) AS id, split(value, ',')[1] AS name FROM records "
    "WHERE value NOT LIKE '#%'"
)
BURST = 300


def step(sql: str, **config: str) -> dict[str, str]:
    settings = {"type": CLASS, "sql": sql, "value.schema": "STRING", **config}
    return {"transforms": "q", **{f"transforms.q.{key}": value for key, value in settings.items()}}


def engines(rest: Rest) -> list[psutil.Process]:
    """Return the live processes of the query engine."""
    below = psutil.Process(rest.system.pid).children(recursive=True)
    return [each for each in below if "copycat_executor.queryengine" in " ".join(command_line(each))]


def test_what_spark_refuses_is_an_error_of_the_key_before_anything_runs(rest: Rest) -> None:
    config = source(rest.folder / "no", "no")
    bad = {
        "SELEC value FROM records": "PARSE_SYNTAX_ERROR",
        "SELECT valu FROM records": "cannot be resolved. Did you mean one of the following? [`value`",
        "SELECT count(*) AS n FROM records": "Aggregates work across records",
        "SELECT value, upper(value) AS big FROM records": "A column named value is the whole value",
    }
    for sql, reason in bad.items():
        errors = rest.errors({**config, **step(sql)})
        assert list(errors) == ["transforms.q.sql"]
        assert reason in errors["transforms.q.sql"][0]
    refused = rest.put("/connectors/refused/config", {**config, **step("SELECT nope FROM records")})
    assert (refused.status_code, "nope" in refused.text) == (400, True)
    assert rest.errors({**config, **step(ROWS)}) == {}


def test_lines_become_typed_values_and_go_to_the_topics_the_query_names(rest: Rest) -> None:
    pipe = Pipe(rest, step(ROWS))
    pipe.write("1,one", "# dropped", "2,two")

    assert pipe.wait_for('{"id":2,"name":"two"}') == ['{"id":1,"name":"one"}', '{"id":2,"name":"two"}']
    pipe.close()


def test_a_record_spark_cannot_compute_is_left_out_alone_or_fails_the_task(rest: Rest) -> None:
    tolerant = Pipe(rest, step(ROWS), **{"errors.tolerance": "all"})
    strict = Pipe(rest, step(ROWS))
    for pipe in (tolerant, strict):
        pipe.write("1,one", "no number,two", "3,three")

    assert "CAST_INVALID_INPUT" in rest.failure(f"{strict.topic}-in")
    good = ['{"id":1,"name":"one"}', '{"id":3,"name":"three"}']
    assert tolerant.wait_for(*good) == good
    tolerant.close()
    strict.close()


def test_a_sink_reads_rows_of_a_query_over_schemaless_json(rest: Rest, tmp_path: Path) -> None:
    pipe = Pipe(rest, step(ROWS))
    target = tmp_path / "large.txt"
    large = step(
        "SELECT concat('large ', value.name) AS value FROM records WHERE value.id > 1",
        **{"value.schema": "id BIGINT, name STRING"},
    )
    json = {
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
    }
    sink = {"connector.class": "FileStreamSink", "file": str(target), "topics": pipe.topic}
    rest.create(f"{pipe.topic}-large", {**sink, "key.converter": STRING, **json, **large})
    pipe.write("1,one", "2,two", "3,three")

    wait_until(lambda: target.exists() and "three" in target.read_text(), 60, "the rows of the query")
    assert target.read_text() == "large two\nlarge three\n"
    rest.delete(f"{pipe.topic}-large")
    pipe.close()


@pytest.mark.parametrize("killed", ["host", "engine"])
def test_no_line_is_lost_when_a_host_or_the_engine_dies_in_the_middle(rest: Rest, killed: str) -> None:
    pipe = Pipe(rest, step(ROWS))
    written = 0
    stop = threading.Event()

    def write() -> None:
        nonlocal written
        while not stop.wait(0.02):
            pipe.write(*(f"{number},line" for number in range(written, written + 20)))
            written += 20

    writer = threading.Thread(target=write)
    writer.start()
    try:
        wait_until(lambda: len(pipe.arrived()) > BURST, 120, "the first lines")
        if killed == "host":
            rest.system.kill("host")
        else:
            for engine in wait_until(lambda: engines(rest), 60, "an engine"):
                with suppress(psutil.NoSuchProcess):
                    engine.kill()
        seen = len(pipe.arrived())
        wait_until(lambda: len(pipe.arrived()) > seen + BURST, 150, "lines after the kill")
    except BaseException:
        print(*(rest.status(f"{pipe.topic}-{end}") for end in ("in", "out")), written, len(pipe.arrived()))
        raise
    finally:
        stop.set()
        writer.join()
    expected = {f'{{"id":{number},"name":"line"}}' for number in range(written)}
    wait_until(lambda: set(pipe.arrived()) >= expected, 90, "every line")
    pipe.close()
