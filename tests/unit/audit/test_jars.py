from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from tests.unit.audit.osv import serve
from tools.audit.findings import Finding, NoDataError
from tools.audit.jars import check_lock, check_vulnerabilities, embedded_artifacts, shipped_jars, spark_jars

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
