"""Who may be the cause of the end of a process of connectors, by what is known from outside."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest
from copycat_executor.children.connector_process import ProcessEnd
from copycat_executor.connectorhost.author_thread import AuthorThread
from copycat_executor.pipes.authors import authors_of, connector_author, tag_of
from copycat_executor.pipes.connector_messages import (
    DescribeKeys,
    ListPlugins,
    QuestionCall,
    ValidateConfig,
)
from copycat_executor.pipes.processor_time import busiest

NOBODY: frozenset[str] = frozenset()
A, B, C = (frozenset({each}) for each in "abc")


@pytest.mark.parametrize(
    ("end", "suspects"),
    [
        (ProcessEnd("", known=A, called=B, outside=False), A),
        (ProcessEnd("", known=NOBODY, called=B, outside=False), B),
        (ProcessEnd("", known=NOBODY, called=NOBODY, outside=False), C),
        (ProcessEnd("", known=NOBODY, called=B, outside=True), B),
        (ProcessEnd("", known=NOBODY, called=NOBODY, outside=True), NOBODY),
    ],
    ids=["who is known", "who was called", "who was there", "who was called when it was killed", "nobody"],
)
def test_the_suspects_of_an_end_are_those_of_whom_most_is_known(
    end: ProcessEnd, suspects: frozenset[str]
) -> None:
    assert end.suspects(C) == suspects


@pytest.mark.parametrize(
    ("after", "found"),
    [
        ({"@a": 3.0, "python": 1.1}, ("@a", 2.0)),
        ({"@a": 2.0, "@b": 2.0}, None),
        ({"@a": 1.0}, None),
        ({}, None),
    ],
    ids=["one computes", "two compute", "none computes", "none is left"],
)
def test_the_busiest_threads_are_those_that_computed_nearly_alone(
    after: dict[str, float], found: tuple[str, float] | None
) -> None:
    assert busiest({"@a": 1.0, "@b": 1.0, "python": 1.0}, after) == found


@pytest.mark.parametrize(
    ("call", "authors"),
    [
        (ValidateConfig({"name": "n", "connector.class": "C"}), ("connector n", "class C")),
        (ValidateConfig({"connector.class": "C"}), ("class C",)),
        (ValidateConfig({"name": "", "connector.class": None}), ()),
        (DescribeKeys("C", None), ("class C",)),
        (ListPlugins(), ()),
    ],
)
def test_a_question_is_answered_by_the_code_of_its_connector(
    call: QuestionCall[object], authors: tuple[str, ...]
) -> None:
    assert authors_of(call) == authors


def test_threads_of_an_author_and_those_they_start_bear_its_tag_in_the_kernel() -> None:
    found: list[str] = []
    done = threading.Event()

    def look() -> None:
        found.append(Path("/proc/thread-self/comm").read_text().strip())

    def work() -> None:
        look()
        inner = threading.Thread(target=look)
        inner.start()
        inner.join()
        done.set()

    tag = tag_of(connector_author("orders"))
    thread = AuthorThread("connector-1", tag, lambda: None)
    thread.submit(work)
    assert done.wait(60)
    thread.end()
    assert found[0] == tag
    if sys.version_info < (3, 14):
        assert found[1] == tag
