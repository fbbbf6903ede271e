"""What the lock file guards, what the index withdrew, what is known against the packages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from tests.unit.audit.osv import serve
from tools.audit.findings import Finding, NoDataError
from tools.audit.python_packages import (
    INDEX_JSON,
    Release,
    check_index,
    check_lock,
    check_vulnerabilities,
    releases,
    withdrawn,
)

REGISTRY = 'source = { registry = "https://index.example/simple" }'
URL = "https://files.example/lines-1.0-py3-none-any.whl"


def lock_file(folder: Path, source: str, file: str) -> Path:
    place = folder / "uv.lock"
    package = f'[[package]]\nname = "lines"\nversion = "1.0"\n{source}\nwheels = [{{ {file} }}]\n'
    place.write_text(package, "utf-8")
    return place


def test_what_is_locked_comes_from_an_index_and_has_hashes() -> None:
    answer = check_lock()

    assert answer.findings == ()
    assert answer.asked > 100


def test_every_release_that_is_locked_names_its_files() -> None:
    assert all(release.hashes for release in releases())


def test_a_file_without_a_hash_is_found(tmp_path: Path) -> None:
    lock = lock_file(tmp_path, REGISTRY, f'url = "{URL}"')

    [finding] = check_lock(lock).findings

    assert (finding.package, finding.id) == ("lines", "hash")
    assert "lines-1.0-py3-none-any.whl has no sha256" in finding.text


def test_a_source_that_is_no_index_is_found(tmp_path: Path) -> None:
    source = 'source = { git = "https://code.example/lines" }'

    [finding] = check_lock(lock_file(tmp_path, source, f'url = "{URL}"')).findings

    assert (finding.package, finding.id) == ("lines", "source")


WHEEL = "lines-1.0-py3-none-any.whl"
LOCKED = "a" * 64


def release(index: str = "https://index.example/simple") -> Release:
    return Release("lines", "1.0", index, {WHEEL: f"sha256:{LOCKED}"})


def page(*, sha256: str = LOCKED, **fields: Any) -> dict[str, Any]:
    return {"files": [{"filename": WHEEL, "hashes": {"sha256": sha256}, "yanked": False} | fields]}


def found(answered: dict[str, Any]) -> list[tuple[str, str]]:
    return [(finding.id, finding.text) for finding in withdrawn(release(), answered)]


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
    asked = httpserver.expect_request("/simple/lines/", headers={"Accept": INDEX_JSON})
    asked.respond_with_json(page(yanked="Loses lines"), content_type=INDEX_JSON)

    answer = check_index([release(httpserver.url_for("/simple"))])

    assert answer.asked == 1
    assert [finding.id for finding in answer.findings] == ["yanked"]


def test_a_project_that_the_index_does_not_know_any_more_is_found(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/simple/lines/").respond_with_data("", status=404)

    [finding] = check_index([release(httpserver.url_for("/simple"))]).findings

    assert finding.id == "removed"


@pytest.mark.parametrize(("status", "kind"), [(503, INDEX_JSON), (200, "text/html")])
def test_an_index_that_says_nothing_is_no_good_news(httpserver: HTTPServer, status: int, kind: str) -> None:
    httpserver.expect_request("/simple/lines/").respond_with_data("{}", status=status, content_type=kind)

    with pytest.raises(NoDataError, match="the package index answers lines with"):
        check_index([release(httpserver.url_for("/simple"))])


def test_an_index_that_cannot_be_reached_is_no_good_news() -> None:
    with pytest.raises(NoDataError, match="does not answer"):
        check_index([release("http://127.0.0.1:1/simple")])


PROJECT = """
[project]
name = "of-ours"
version = "0"
requires-python = ">=3.11"
dependencies = ["lines"]
"""
LOCK = """
version = 1
revision = 3
requires-python = ">=3.11"

[[package]]
name = "lines"
version = "1.0"
source = {{ registry = "{index}" }}
wheels = [{{ url = "{index}/lines-1.0-py3-none-any.whl", hash = "sha256:{hash}" }}]

[[package]]
name = "of-ours"
version = "0"
source = {{ virtual = "." }}
dependencies = [{{ name = "lines" }}]

[package.metadata]
requires-dist = [{{ name = "lines" }}]
"""


@pytest.fixture
def project(tmp_path: Path, httpserver: HTTPServer) -> Path:
    """A project that locked one package, of an index that this test plays."""
    index = httpserver.url_for("/simple")
    (tmp_path / "pyproject.toml").write_text(PROJECT, "utf-8")
    (tmp_path / "uv.lock").write_text(LOCK.format(index=index, hash="0" * 64), "utf-8")
    page = {"meta": {"api-version": "1.0"}, "name": "lines", "files": []}
    httpserver.expect_request("/simple/lines/").respond_with_json(page, content_type=INDEX_JSON)
    return tmp_path


def test_a_vulnerability_of_a_locked_package_is_found(project: Path, httpserver: HTTPServer) -> None:
    url = serve(httpserver, "PyPI", "lines")

    answer = check_vulnerabilities(url, project)

    expected = Finding("lines", "1.0", "GHSA-1", "Reads along.", aliases=("CVE-1",), fixed=("2.0",))
    assert (answer.asked, answer.findings) == (1, (expected,))


def test_a_package_without_one_is_fine(project: Path, httpserver: HTTPServer) -> None:
    answer = check_vulnerabilities(serve(httpserver, "PyPI", "words"), project)

    assert (answer.asked, answer.findings) == (1, ())


def test_a_service_that_cannot_be_reached_is_no_good_news(project: Path) -> None:
    with pytest.raises(NoDataError, match="uv audit"):
        check_vulnerabilities("http://127.0.0.1:1", project)
