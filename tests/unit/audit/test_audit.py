"""The audit: what is known against packages and jars, what the lock file guards, what is accepted."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from datetime import date
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from rich.console import Console
from werkzeug import Request, Response

from tools.audit.__main__ import FINDINGS, NO_DATA, NOTHING, audit
from tools.audit.findings import Accepted, Answer, Finding, NoDataError, judge, read_accepted
from tools.audit.jars import check_lock as check_lock_of_jars
from tools.audit.jars import check_vulnerabilities as check_jars
from tools.audit.jars import embedded_artifacts, shipped_jars, spark_jars
from tools.audit.python_packages import (
    INDEX_JSON,
    Release,
    check_index,
    check_lock,
    check_vulnerabilities,
    releases,
    withdrawn,
)

NUMBER = "GHSA-1"


def known(ecosystem: str, name: str) -> dict[str, Any]:
    """Return the record of the one vulnerability."""
    events = [{"introduced": "0"}, {"fixed": "2.0"}]
    return {
        "id": NUMBER,
        "modified": "2026-01-01T00:00:00Z",
        "aliases": ["CVE-1"],
        "summary": "Reads along.",
        "details": "Reads along.\nAlways.",
        "affected": [
            {
                "package": {"ecosystem": ecosystem, "name": name},
                "ranges": [{"type": "ECOSYSTEM", "events": events}],
            }
        ],
    }


def serve(server: HTTPServer, ecosystem: str, name: str) -> str:
    """Have a server know a vulnerability of every version of a package below 2.0; returns its address."""

    def answer(request: Request) -> Response:
        queries = request.get_json()["queries"]
        hits = [each["package"] == {"ecosystem": ecosystem, "name": name} for each in queries]
        found = {"vulns": [{"id": NUMBER, "modified": "2026-01-01T00:00:00Z"}]}
        body = {"results": [found if hit else {} for hit in hits]}
        return Response(response=json.dumps(body), content_type="application/json")

    server.expect_request("/v1/querybatch", method="POST").respond_with_handler(answer)
    server.expect_request(f"/v1/vulns/{NUMBER}").respond_with_json(known(ecosystem, name))
    return str(server.url_for("")).rstrip("/")


FOUND = Finding("lines", "1.0", "GHSA-1", "Reads [along].", aliases=("CVE-1",), fixed=("2.0",))


def nothing() -> Answer:
    return Answer(7)


def one_finding() -> Answer:
    return Answer(7, (FOUND,))


def no_data() -> Answer:
    raise NoDataError("nobody answers")


@pytest.mark.parametrize(
    ("checks", "code"),
    [
        ([nothing, nothing], NOTHING),
        ([nothing, one_finding], FINDINGS),
        ([no_data, nothing], NO_DATA),
        ([no_data, one_finding], FINDINGS),
    ],
)
def test_the_exit_code_tells_findings_from_data_that_is_missing(
    checks: list[Callable[[], Answer]], code: int
) -> None:
    assert audit({str(place): check for place, check in enumerate(checks)}, Console(file=StringIO())) == code


def test_each_finding_and_each_check_that_could_not_ask_has_a_line() -> None:
    said = StringIO()

    audit({"jars": one_finding, "Python": no_data}, Console(file=said, soft_wrap=True))

    lines = said.getvalue().splitlines()
    assert "FOUND: lines 1.0: GHSA-1, CVE-1: Reads [along].; fixed in 2.0" in lines
    assert "NOT ASKED: Python: nobody answers" in lines


KNOWN = Finding("lines", "1.0", "GHSA-1", "Reads along.", aliases=("CVE-1",))
LAST_DAY = date(2027, 3, 1)


def accepted(package: str = "lines", number: str = "CVE-1") -> tuple[Accepted, ...]:
    return (Accepted(package, number, "We never write.", LAST_DAY),)


@pytest.mark.parametrize("number", ["GHSA-1", "CVE-1"])
def test_a_finding_is_accepted_by_its_number_or_another_name_of_it(number: str) -> None:
    assert judge([KNOWN], accepted(number=number), LAST_DAY) == ((), (KNOWN,))


def test_a_finding_counts_again_after_the_last_day() -> None:
    assert judge([KNOWN], accepted(), date(2027, 3, 2)) == ((KNOWN,), ())


def test_a_finding_of_another_package_is_not_accepted() -> None:
    assert judge([KNOWN], accepted(package="words"), LAST_DAY) == ((KNOWN,), ())


def test_what_two_checks_find_counts_once() -> None:
    assert judge([KNOWN, KNOWN], (), LAST_DAY) == ((KNOWN,), ())


def test_the_committed_file_can_be_read_accepted() -> None:
    read_accepted()


@pytest.mark.parametrize("left_out", ["package", "id", "reason", "until"])
def test_an_entry_that_lacks_a_field_is_refused(tmp_path: Path, left_out: str) -> None:
    lines = {"package": '"lines"', "id": '"CVE-1"', "reason": '"We never write."', "until": "2027-03-01"}
    file = tmp_path / "accepted.toml"
    kept = [f"{name} = {value}" for name, value in lines.items() if name != left_out]
    file.write_text("\n".join(["[[accepted]]", *kept]), "utf-8")

    with pytest.raises(ValueError, match="each entry has"):
        read_accepted(file)


LINES = ("org.example:lines", "1.0")
WORDS = ("org.example:words", "1.0")


def test_a_vulnerability_of_a_jar_is_found(httpserver: HTTPServer) -> None:
    url = serve(httpserver, "Maven", LINES[0])

    answer = check_jars(url, [LINES, WORDS])

    expected = Finding(*LINES, "GHSA-1", "Reads along.", aliases=("CVE-1",), fixed=("2.0",))
    assert (answer.asked, answer.findings) == (2, (expected,))


@pytest.mark.parametrize(("status", "body"), [(503, ""), (200, "<html>"), (200, "{}")])
def test_a_service_that_says_nothing_is_no_good_news(httpserver: HTTPServer, status: int, body: str) -> None:
    httpserver.expect_request("/v1/querybatch").respond_with_data(body, status=status)

    with pytest.raises(NoDataError):
        check_jars(httpserver.url_for(""), [LINES])


def test_a_service_that_cannot_be_asked_about_jars_is_no_good_news() -> None:
    with pytest.raises(NoDataError, match=r"127\.0\.0\.1:1"):
        check_jars("http://127.0.0.1:1", [LINES])


def test_a_jar_tells_what_was_put_into_it(tmp_path: Path) -> None:
    jar = tmp_path / "all.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        for name, version in (LINES, WORDS):
            group, artifact = name.split(":")
            text = f"#Made\ngroupId={group}\nartifactId={artifact}\nversion={version}\n"
            archive.writestr(f"META-INF/maven/{group}/{artifact}/pom.properties", text)
        archive.writestr("META-INF/maven/empty/pom.properties", "#Made\n")

    assert list(embedded_artifacts(jar)) == [LINES, WORDS]


def test_the_jars_that_copycat_runs_are_asked_about() -> None:
    named = {name for name, _ in (*shipped_jars(), *spark_jars())}

    assert {"org.apache.kafka:kafka-server", "com.fasterxml.jackson.core:jackson-databind"} <= named
    assert "org.apache.kafka:connect-runtime" not in named, "a peer of tests"


def test_a_jar_without_a_hash_is_found(tmp_path: Path) -> None:
    lock = tmp_path / "jars.lock.toml"
    lock.write_text('[sets]\nbroker = ["org.example:lines:1.0"]\n[sha256]\n', "utf-8")

    [finding] = check_lock_of_jars(lock).findings

    assert (finding.package, finding.version, finding.id) == ("org.example:lines", "1.0", "hash")


def test_every_locked_jar_has_a_hash() -> None:
    answer = check_lock_of_jars()

    assert answer.findings == ()
    assert answer.asked > 100


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
