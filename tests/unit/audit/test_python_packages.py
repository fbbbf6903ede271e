from __future__ import annotations

from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from tests.unit.audit.osv import serve
from tools.audit.findings import Finding, NoDataError
from tools.audit.index import JSON
from tools.audit.python_packages import check

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
    httpserver.expect_request("/simple/lines/").respond_with_json(page, content_type=JSON)
    return tmp_path


def test_a_vulnerability_of_a_locked_package_is_found(project: Path, httpserver: HTTPServer) -> None:
    url = serve(httpserver, "PyPI", "lines")

    answer = check(url, project)

    expected = Finding("lines", "1.0", "GHSA-1", "Reads along.", aliases=("CVE-1",), fixed=("2.0",))
    assert (answer.asked, answer.findings) == (1, (expected,))


def test_a_package_without_one_is_fine(project: Path, httpserver: HTTPServer) -> None:
    answer = check(serve(httpserver, "PyPI", "words"), project)

    assert (answer.asked, answer.findings) == (1, ())


def test_a_service_that_cannot_be_reached_is_no_good_news(project: Path) -> None:
    with pytest.raises(NoDataError, match="uv audit"):
        check("http://127.0.0.1:1", project)
