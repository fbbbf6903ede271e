"""Transformations of our own in a running system: PythonFunction, and SparkSql, which Spark analyses."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest
from copycat_testkit.kafka import unique, wait_until
from copycat_testkit.processes import command_line
from copycat_testkit.system import CopycatUp

pytestmark = [pytest.mark.timeout(400), pytest.mark.long]

AUTHOR = Path(__file__).with_name("author")
STRING = "org.apache.kafka.connect.storage.StringConverter"


class Rest:
    """What these tests do over REST."""

    def __init__(self, system: CopycatUp, folder: Path) -> None:
        self.system = system
        self.folder = folder

    def put(self, path: str, body: dict[str, str]) -> httpx2.Response:
        return httpx2.put(f"{self.system.url}{path}", json=body, timeout=90)

    def errors(self, config: dict[str, str]) -> dict[str, list[str]]:
        """Validate a configuration; returns the errors by key."""
        answer = self.put("/connector-plugins/FileStreamSource/config/validate", {"name": "v", **config})
        assert answer.status_code == 200, answer.text
        found = {each["value"]["name"]: each["value"]["errors"] for each in answer.json()["configs"]}
        return {name: errors for name, errors in found.items() if errors}

    def create(self, name: str, config: dict[str, str]) -> None:
        answer = self.put(f"/connectors/{name}/config", config)
        assert answer.status_code == 201, answer.text

    def status(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = httpx2.get(f"{self.system.url}/connectors/{name}/status", timeout=30).json()
        return found

    def failure(self, name: str) -> str:
        """Wait until the connector's task failed; returns its trace."""

        def trace() -> str | None:
            tasks = self.status(name).get("tasks", [])
            return tasks[0].get("trace") if tasks and tasks[0]["state"] == "FAILED" else None

        return wait_until(trace, 60, f"{name} failed")

    def delete(self, name: str) -> None:
        httpx2.delete(f"{self.system.url}/connectors/{name}", timeout=60)


class Pipe:
    """A file, through a chain, into a topic and out into another file."""

    def __init__(self, rest: Rest, transforms: dict[str, str], **more: str) -> None:
        self.topic = unique("pipe")
        self.source = rest.folder / f"{self.topic}.in"
        self.target = rest.folder / f"{self.topic}.out"
        self.source.touch()
        self._rest = rest
        rest.create(f"{self.topic}-in", {**source(self.source, self.topic), **transforms, **more})
        sink = {"connector.class": "FileStreamSink", "file": str(self.target), "topics": self.topic}
        rest.create(f"{self.topic}-out", {**sink, "key.converter": STRING, "value.converter": STRING})

    def write(self, *lines: str) -> None:
        with self.source.open("a") as file:
            file.writelines(f"{line}\n" for line in lines)

    def arrived(self) -> list[str]:
        text = self.target.read_text() if self.target.exists() else ""
        return text[: text.rfind("\n") + 1].splitlines()

    def wait_for(self, *lines: str, seconds: float = 60) -> list[str]:
        wait_until(lambda: set(lines) <= set(self.arrived()), seconds, f"the arrival of {lines[:5]}")
        return self.arrived()

    def close(self) -> None:
        for end in ("in", "out"):
            self._rest.delete(f"{self.topic}-{end}")


def source(file: Path, topic: str) -> dict[str, str]:
    """Configure a file source that writes schemaless JSON."""
    return {
        "connector.class": "FileStreamSource",
        "file": str(file),
        "topic": topic,
        "key.converter": STRING,
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
    }


@pytest.fixture(scope="module")
def rest(tmp_path_factory: pytest.TempPathFactory, kafka: str) -> Iterator[Rest]:
    """Run the system, with the author's functions on its Python path."""
    folder = tmp_path_factory.mktemp("transforms")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(AUTHOR))
        with CopycatUp(folder / "data", kafka) as system:
            yield Rest(system, folder)


VALUE = "copycat_plugins.transforms.python_function.PythonFunction$Value"


def function_step(function: str, **config: str) -> dict[str, str]:
    settings = {"type": VALUE, "function": function, **config}
    return {"transforms": "f", **{f"transforms.f.{key}": value for key, value in settings.items()}}


@pytest.mark.timeout(240)
def test_what_cannot_be_run_is_refused_when_the_connector_is_created(rest: Rest) -> None:
    config = source(rest.folder / "no", "no")
    bad = {
        "author_functions:two": "cannot be called with one argument",
        "author_function:order": "There is no module author_function",
        "/etc/hostname.py:f": "add its folder to the worker's PYTHONPATH",
    }
    for function, reason in bad.items():
        (error,) = rest.errors({**config, **function_step(function)})["transforms.f.function"]
        assert reason in error
    refused = rest.put("/connectors/refused/config", {**config, **function_step("author_functions:two")})
    assert (refused.status_code, "transforms" in refused.text or "function" in refused.text) == (400, True)


@pytest.mark.timeout(240)
def test_records_go_through_a_function_that_drops_some_and_gives_others_a_schema(rest: Rest) -> None:
    declared = {"result.schema": "id BIGINT NOT NULL, amount DOUBLE"}
    pipe = Pipe(rest, function_step("author_functions:order", **declared))
    pipe.write("1,2.5", "# a comment", "2,3")

    assert pipe.wait_for('{"id":2,"amount":3.0}') == ['{"id":1,"amount":2.5}', '{"id":2,"amount":3.0}']
    pipe.close()


@pytest.mark.timeout(240)
def test_a_file_of_functions_works_where_modules_do_and_with_a_predicate(rest: Rest) -> None:
    only = {
        "transforms.f.predicate": "gone",
        "transforms.f.negate": "true",
        "predicates": "gone",
        "predicates.gone.type": "RecordIsTombstone",
    }
    pipe = Pipe(rest, {**function_step(f"{AUTHOR / 'author_functions.py'}:shout"), **only})
    pipe.write("a", "b")

    assert pipe.wait_for('"B"') == ['"A"', '"B"']
    pipe.close()


@pytest.mark.timeout(240)
def test_an_exception_is_tolerated_or_fails_the_task_at_its_stage(rest: Rest) -> None:
    tolerant = Pipe(rest, function_step("author_functions:order"), **{"errors.tolerance": "all"})
    strict = Pipe(rest, function_step("author_functions:order"))
    for pipe in (tolerant, strict):
        pipe.write("1,1", "what is this", "2,2")

    trace = rest.failure(f"{strict.topic}-in")
    assert "ValueError" in trace
    assert "author_functions.py" in trace
    assert tolerant.wait_for('{"id":2,"amount":2.0}') == ['{"id":1,"amount":1.0}', '{"id":2,"amount":2.0}']
    tolerant.close()
    strict.close()


CLASS = "copycat_plugins.transforms.spark_sql.SparkSql"
#: Makes structs of lines such as `7,some text`.
ROWS = (
    "SELECT CAST(split(value, ',')[0] AS BIGINT) AS id, split(value, ',')[1] AS name FROM records "
    "WHERE value NOT LIKE '#%'"
)
BURST = 300


def sql_step(sql: str, **config: str) -> dict[str, str]:
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
        errors = rest.errors({**config, **sql_step(sql)})
        assert list(errors) == ["transforms.q.sql"]
        assert reason in errors["transforms.q.sql"][0]
    refused = rest.put("/connectors/refused/config", {**config, **sql_step("SELECT nope FROM records")})
    assert (refused.status_code, "nope" in refused.text) == (400, True)
    assert rest.errors({**config, **sql_step(ROWS)}) == {}


def test_lines_become_typed_values_and_go_to_the_topics_the_query_names(rest: Rest) -> None:
    pipe = Pipe(rest, sql_step(ROWS))
    pipe.write("1,one", "# dropped", "2,two")

    assert pipe.wait_for('{"id":2,"name":"two"}') == ['{"id":1,"name":"one"}', '{"id":2,"name":"two"}']
    pipe.close()


def test_a_record_spark_cannot_compute_is_left_out_alone_or_fails_the_task(rest: Rest) -> None:
    tolerant = Pipe(rest, sql_step(ROWS), **{"errors.tolerance": "all"})
    strict = Pipe(rest, sql_step(ROWS))
    for pipe in (tolerant, strict):
        pipe.write("1,one", "no number,two", "3,three")

    assert "CAST_INVALID_INPUT" in rest.failure(f"{strict.topic}-in")
    good = ['{"id":1,"name":"one"}', '{"id":3,"name":"three"}']
    assert tolerant.wait_for(*good) == good
    tolerant.close()
    strict.close()


def test_a_sink_reads_rows_of_a_query_over_schemaless_json(rest: Rest, tmp_path: Path) -> None:
    pipe = Pipe(rest, sql_step(ROWS))
    target = tmp_path / "large.txt"
    large = sql_step(
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
    pipe = Pipe(rest, sql_step(ROWS))
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
