from __future__ import annotations

from collections.abc import Callable
from datetime import date
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from tools.audit.__main__ import FINDINGS, NO_DATA, NOTHING, audit
from tools.audit.findings import Accepted, Answer, Finding, NoDataError, judge, read_accepted

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
