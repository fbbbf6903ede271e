"""A pytest plugin: a test of a real system that fails is run once more, and both outcomes are kept.

The ini option `second_try` names the folders whose tests may have one; all others have their first try only.
The second try gets every fixture anew, those of modules, packages and the session too: what the first one
broke is not used again. The end of a run says what happened, and `build/flaky.json` keeps it, run after run.
More than `LIMIT` such tests fail the run, also when all of them passed in the end.

`pytest-rerunfailures` keeps the fixtures of wider scopes for its second try, which is what must not be: a
system that the first try broke would fail the second.
"""

from __future__ import annotations

import json
import traceback
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest
from _pytest.runner import runtestprotocol

#: Tests of one run that may need a second try.
LIMIT: Final = 2
RECORD: Final = "build/flaky.json"
#: Runs that the record keeps.
RUNS: Final = 50
#: Characters of each section of a report that the record keeps.
SECTION: Final = 20_000
#: Lines of a failure that the end of a run shows; the record has all of it.
SHOWN_LINES: Final = 25
FOLDERS: Final = "second_try"
#: The outcome of a first try that failed.
RERUN: Final = "rerun"
IS_SECOND: Final = pytest.StashKey[bool]()


@dataclass(slots=True)
class Try:
    """One try of a test."""

    outcome: str
    """`failed` or `passed`, or `skipped`."""
    phase: str
    """What failed: `setup`, `call` or `teardown`; of a try that did not fail, the last that ended."""
    seconds: float
    """The time of that phase."""
    error: str = ""
    """The failure, and what was captured with it."""
    cause: str = ""
    """The last lines of the failure itself."""


@dataclass(slots=True)
class TriedTwice:
    """A test that failed, and what its second try gave."""

    test: str
    first: Try
    second: Try | None = None
    """Nothing when the run ended before."""


@dataclass(slots=True, eq=False)  # pytest keeps plugins in sets
class SecondTries:
    """Gathers the tests of one run that failed at first, from all processes of the run."""

    config: pytest.Config
    since: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    found: dict[str, TriedTwice] = field(default_factory=dict)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep a failed first try, and whatever its second try says."""
        known = self.found.get(report.nodeid)
        if _is_rerun(report):
            self.found[report.nodeid] = TriedTwice(report.nodeid, _try(report, "failed"))
        elif known is not None and (known.second is None or known.second.outcome != "failed"):
            known.second = _try(report, report.outcome)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the record; too many fail the run."""
        if self.found:
            self._keep()
        if len(self.found) > LIMIT and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say which tests were run twice, with both outcomes."""
        if not self.found:
            return
        terminalreporter.section(f"{len(self.found)} tests were run twice", yellow=True)
        for each in self.found.values():
            second = each.second.outcome if each.second else "not run"
            terminalreporter.line(f"{each.test}: first failed ({each.first.phase}), then {second}", bold=True)
            for line in each.first.cause.splitlines():
                terminalreporter.line(f"    {line}")
        terminalreporter.line(f"All of it: {RECORD}")
        if len(self.found) > LIMIT:
            terminalreporter.line(
                f"FAILED: {len(self.found)} tests needed a second try, and a run bears {LIMIT}.", red=True
            )

    def _keep(self) -> None:
        path = self.config.rootpath / RECORD
        runs = json.loads(path.read_text("utf-8")) if path.exists() else []
        arguments = [str(each) for each in self.config.invocation_params.args]
        tests = [asdict(each) for each in self.found.values()]
        runs.append({"since": self.since, "arguments": arguments, "tests": tests})
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(runs[-RUNS:], indent=1) + "\n", "utf-8", errors="backslashreplace")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the ini option."""
    parser.addini(FOLDERS, "Folders whose tests are run once more when they fail.", type="args", default=[])


def pytest_configure(config: pytest.Config) -> None:
    """Gather in the process that prints; those that run tests for it send it their reports."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(SecondTries(config), "second_tries")


def pytest_report_teststatus(
    report: pytest.TestReport,
) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    """Show a first try that failed as what it is."""
    return (RERUN, "R", ("RERUN", {"yellow": True})) if _is_rerun(report) else None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a test of the folders; where it fails, end all fixtures and have it run once more."""
    if item.stash.get(IS_SECOND, False) or not _may_have_another(item):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, log=False, nextitem=nextitem)
    failed = next((report for report in reports if report.failed), None)
    for report in [failed] if failed else reports:
        if failed:
            report.sections += _ended_fixtures(item)
            report.outcome = RERUN  # type: ignore[assignment]  # one more than pytest has
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    if failed:
        # By way of the hook, so that the second try has a time limit of its own.
        item.stash[IS_SECOND] = True
        item.ihook.pytest_runtest_protocol(item=item, nextitem=nextitem)
    return True


def _may_have_another(item: pytest.Item) -> bool:
    folders = item.config.getini(FOLDERS)
    return item.nodeid.startswith(tuple(f"{Path(folder).as_posix()}/" for folder in folders))


def _ended_fixtures(item: pytest.Item) -> list[tuple[str, str]]:
    """End every fixture there is; returns what went wrong, as sections of a report."""
    try:
        item.session._setupstate.teardown_exact(None)  # noqa: SLF001  # no public name ends all of them
    except (
        Exception
    ):  # a system that is broken may be unable to end well: the second try says whether it matters
        return [("ending of the fixtures", traceback.format_exc())]
    return []


def _is_rerun(report: pytest.TestReport) -> bool:
    return str(report.outcome) == RERUN


def _try(report: pytest.TestReport, outcome: str) -> Try:
    found = Try(outcome, str(report.when), round(report.duration, 2))
    if outcome == "failed":
        sections = [f"{name}\n{text[-SECTION:]}" for name, text in report.sections]
        found.error = "\n".join((report.longreprtext, *sections))
        found.cause = "\n".join(report.longreprtext.splitlines()[-SHOWN_LINES:])
    return found
