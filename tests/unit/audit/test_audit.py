from __future__ import annotations

from collections.abc import Callable
from io import StringIO

import pytest
from rich.console import Console

from tools.audit.__main__ import FINDINGS, NO_DATA, NOTHING, audit
from tools.audit.findings import Answer, Finding, NoDataError

KNOWN = Finding("lines", "1.0", "GHSA-1", "Reads [along].", aliases=("CVE-1",), fixed=("2.0",))


def nothing() -> Answer:
    return Answer(7)


def one_finding() -> Answer:
    return Answer(7, (KNOWN,))


def no_data() -> Answer:
    message = "nobody answers"
    raise NoDataError(message)


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
