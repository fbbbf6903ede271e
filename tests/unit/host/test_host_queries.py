"""Queries of a host's transformations."""

from __future__ import annotations

import threading

import pytest
from copycat.host.v1 import host_service_pb2 as pb
from copycat_connect.errors import ConfigError, ConnectError, CopycatError, DataError, RetriableError
from copycat_executor.taskhost.host_questions import HostQueries


class Asked:
    """Answers each query as the test says."""

    def __init__(self, **answer: object) -> None:
        self.queries = HostQueries(self.hear)
        self.wanted: list[pb.QueryWanted] = []
        self._answer = answer

    def hear(self, event: pb.AttachRequest) -> None:
        self.wanted.append(event.query_wanted)
        answered = pb.QueryAnswered(sequence=event.query_wanted.sequence, **self._answer)  # type: ignore[arg-type]
        threading.Thread(target=self.queries.answer, args=(answered,)).start()


def test_a_query_is_prepared_without_records_and_run_with_them() -> None:
    asked = Asked(schema="id INT", rows=b"rows")

    assert asked.queries.prepare("SELECT 1", "value INT") == "id INT"
    assert asked.queries.run("SELECT 1", "value INT", b"") == b"rows"
    assert [(each.sql, each.columns, each.HasField("batch")) for each in asked.wanted] == [
        ("SELECT 1", "value INT", False),
        ("SELECT 1", "value INT", True),
    ]


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("config.invalid", ConfigError),
        ("connect.data", DataError),
        ("connect.retriable", RetriableError),
        ("connect.failed", ConnectError),
        ("unheard.of", ConnectError),
    ],
)
def test_a_refusal_is_the_error_its_code_says(code: str, error: type[CopycatError]) -> None:
    with pytest.raises(error, match="because") as refused:
        Asked(error="because", error_code=code).queries.run("s", "c", b"")
    assert type(refused.value) is error


def test_nobody_waits_for_an_executor_that_is_gone() -> None:
    queries = HostQueries(lambda _: threading.Thread(target=lambda: queries.abandon()).start())  # noqa: PLW0108  # not bound yet

    with pytest.raises(RetriableError, match="gone"):
        queries.prepare("s", "c")
