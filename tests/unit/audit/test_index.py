from __future__ import annotations

from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from tools.audit.findings import NoDataError
from tools.audit.index import JSON, check, judge
from tools.audit.locks import Release

WHEEL = "lines-1.0-py3-none-any.whl"
LOCKED = "a" * 64


def release(index: str = "https://index.example/simple") -> Release:
    return Release("lines", "1.0", index, {WHEEL: f"sha256:{LOCKED}"})


def page(*, sha256: str = LOCKED, **fields: Any) -> dict[str, Any]:
    return {"files": [{"filename": WHEEL, "hashes": {"sha256": sha256}, "yanked": False} | fields]}


def found(answered: dict[str, Any]) -> list[tuple[str, str]]:
    return [(finding.id, finding.text) for finding in judge(release(), answered)]


def test_a_release_that_is_listed_as_it_was_locked_is_fine() -> None:
    assert found(page()) == []


@pytest.mark.parametrize(
    ("answered", "expected"),
    [
        (page(yanked="Loses lines"), ("yanked", "Loses lines")),
        (page(yanked=True), ("yanked", "without a reason")),
        ({"files": []}, ("removed", "the index has none of its files any more")),
        (page(sha256="b" * 64), ("hash", f"{WHEEL} is another file than was locked")),
        (page() | {"project-status": {"status": "quarantined"}}, ("quarantined", "by the index")),
    ],
)
def test_what_the_index_withdrew_is_found(answered: dict[str, Any], expected: tuple[str, str]) -> None:
    assert found(answered) == [expected]


def test_a_project_that_is_archived_is_fine() -> None:
    assert found(page() | {"project-status": {"status": "archived"}}) == []


def test_the_index_is_asked_for_json(httpserver: HTTPServer) -> None:
    asked = httpserver.expect_request("/simple/lines/", headers={"Accept": JSON})
    asked.respond_with_json(page(yanked="Loses lines"), content_type=JSON)

    answer = check([release(httpserver.url_for("/simple"))])

    assert answer.asked == 1
    assert [finding.id for finding in answer.findings] == ["yanked"]


def test_a_project_that_the_index_does_not_know_any_more_is_found(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/simple/lines/").respond_with_data("", status=404)

    [finding] = check([release(httpserver.url_for("/simple"))]).findings

    assert finding.id == "removed"


@pytest.mark.parametrize(("status", "kind"), [(503, JSON), (200, "text/html")])
def test_an_index_that_says_nothing_is_no_good_news(httpserver: HTTPServer, status: int, kind: str) -> None:
    httpserver.expect_request("/simple/lines/").respond_with_data("{}", status=status, content_type=kind)

    with pytest.raises(NoDataError, match="the package index answers lines with"):
        check([release(httpserver.url_for("/simple"))])


def test_an_index_that_cannot_be_reached_is_no_good_news() -> None:
    with pytest.raises(NoDataError, match="does not answer"):
        check([release("http://127.0.0.1:1/simple")])
