"""The audit: what is known against jars, what is accepted, and how it ends."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from datetime import date
from io import StringIO
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from rich.console import Console

from tests.unit.audit.osv import serve
from tools.audit.__main__ import FINDINGS, NO_DATA, NOTHING, audit
from tools.audit.findings import Accepted, Answer, Finding, NoDataError, judge, read_accepted
from tools.audit.jars import check_lock, check_vulnerabilities, embedded_artifacts, shipped_jars, spark_jars

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

    answer = check_vulnerabilities(url, [LINES, WORDS])

    expected = Finding(*LINES, "GHSA-1", "Reads along.", aliases=("CVE-1",), fixed=("2.0",))
    assert (answer.asked, answer.findings) == (2, (expected,))


@pytest.mark.parametrize(("status", "body"), [(503, ""), (200, "<html>"), (200, "{}")])
def test_a_service_that_says_nothing_is_no_good_news(httpserver: HTTPServer, status: int, body: str) -> None:
    httpserver.expect_request("/v1/querybatch").respond_with_data(body, status=status)

    with pytest.raises(NoDataError):
        check_vulnerabilities(httpserver.url_for(""), [LINES])


def test_a_service_that_cannot_be_reached_is_no_good_news() -> None:
    with pytest.raises(NoDataError, match=r"127\.0\.0\.1:1"):
        check_vulnerabilities("http://127.0.0.1:1", [LINES])


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

    [finding] = check_lock(lock).findings

    assert (finding.package, finding.version, finding.id) == ("org.example:lines", "1.0", "hash")


def test_every_locked_jar_has_a_hash() -> None:
    answer = check_lock()

    assert answer.findings == ()
    assert answer.asked > 100
