"""PythonFunction in a running system: validated over REST, run in a host."""

from __future__ import annotations

import pytest

from tests.integration.transforms.conftest import AUTHOR, Pipe, Rest, source

pytestmark = [pytest.mark.timeout(240), pytest.mark.long]
VALUE = "copycat_plugins.transforms.python_function.PythonFunction$Value"


def step(function: str, **config: str) -> dict[str, str]:
    settings = {"type": VALUE, "function": function, **config}
    return {"transforms": "f", **{f"transforms.f.{key}": value for key, value in settings.items()}}


def test_what_cannot_be_run_is_refused_when_the_connector_is_created(rest: Rest) -> None:
    config = source(rest.folder / "no", "no")
    bad = {
        "author_functions:two": "cannot be called with one argument",
        "author_function:order": "There is no module author_function",
        "/etc/hostname.py:f": "add its folder to the worker's PYTHONPATH",
    }
    for function, reason in bad.items():
        (error,) = rest.errors({**config, **step(function)})["transforms.f.function"]
        assert reason in error
    refused = rest.put("/connectors/refused/config", {**config, **step("author_functions:two")})
    assert (refused.status_code, "transforms" in refused.text or "function" in refused.text) == (400, True)


def test_records_go_through_a_function_that_drops_some_and_gives_others_a_schema(rest: Rest) -> None:
    declared = {"result.schema": "id BIGINT NOT NULL, amount DOUBLE"}
    pipe = Pipe(rest, step("author_functions:order", **declared))
    pipe.write("1,2.5", "# a comment", "2,3")

    assert pipe.wait_for('{"id":2,"amount":3.0}') == ['{"id":1,"amount":2.5}', '{"id":2,"amount":3.0}']
    pipe.close()


def test_a_file_of_functions_works_where_modules_do_and_with_a_predicate(rest: Rest) -> None:
    only = {
        "transforms.f.predicate": "gone",
        "transforms.f.negate": "true",
        "predicates": "gone",
        "predicates.gone.type": "RecordIsTombstone",
    }
    pipe = Pipe(rest, {**step(f"{AUTHOR / 'author_functions.py'}:shout"), **only})
    pipe.write("a", "b")

    assert pipe.wait_for('"B"') == ['"A"', '"B"']
    pipe.close()


def test_an_exception_is_tolerated_or_fails_the_task_at_its_stage(rest: Rest) -> None:
    tolerant = Pipe(rest, step("author_functions:order"), **{"errors.tolerance": "all"})
    strict = Pipe(rest, step("author_functions:order"))
    for pipe in (tolerant, strict):
        pipe.write("1,1", "what is this", "2,2")

    trace = rest.failure(f"{strict.topic}-in")
    assert "ValueError" in trace
    assert "author_functions.py" in trace
    assert tolerant.wait_for('{"id":2,"amount":2.0}') == ['{"id":1,"amount":1.0}', '{"id":2,"amount":2.0}']
    tolerant.close()
    strict.close()
