"""What every test may ask for, and in which order several processes are given the groups that share one."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from _pytest.assertion import rewrite
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.workermanage import WorkerController

# A test proves behaviour, not speed: an example may take as long as a busy machine makes it.
settings.register_profile(
    "behaviour", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
# What everybody runs (`make test`): a few examples of each property, the same in every run.
settings.register_profile(
    "brief", settings.get_profile("behaviour"), max_examples=15, derandomize=True, database=None
)
settings.load_profile("behaviour")

pytest_plugins = ["copycat_testkit.kafka", "copycat_testkit.failures", "copycat_testkit.second_try"]

#: Where the cache of pytest keeps how long a test of a group takes, in seconds.
SECONDS = "copycat/seconds"
#: How many seconds one may take that was never run here, by the folder: it starts processes, or it does not.
GUESSES = {
    "tests/unit": 0.02,
    "tests/laws": 0.5,
    "tests/contract": 0.2,
    "tests/conformance": 0.1,
    "tests/compat/rest": 0.5,
    "tests/integration/plugins/spark": 60.0,
}
LONG = 5.0


def group_of(nodeid: str, root: Path) -> str:
    """Return what shares a process with a test: its package, elsewhere its file."""
    file = Path(nodeid.partition("::")[0])
    return str(file.parent if (root / file.parent / "__init__.py").exists() else file)


def guess(group: str) -> float:
    """Return how long a test of a group may take."""
    return next((seconds for folder, seconds in GUESSES.items() if group.startswith(folder)), LONG)


class Scheduling(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """Gives a process all tests that share a system, the group that takes longest of those that are left."""

    def __init__(self, config: pytest.Config, log: Producer) -> None:
        super().__init__(config, log)
        cache = getattr(config, "cache", None)  # it may be switched off
        self._known: dict[str, float] = cache.get(SECONDS, {}) if cache else {}

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid, self.config.rootpath)

    def _assign_work_unit(self, node: WorkerController) -> None:
        longest = max(self.workqueue, key=self._seconds)
        self.workqueue.move_to_end(longest, last=False)
        super()._assign_work_unit(node)

    def _seconds(self, group: str) -> float:
        return len(self.workqueue[group]) * self._known.get(group, guess(group))


class Stopwatch:
    """Measures how long a test of each group takes, for the next run."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._tests: defaultdict[str, set[str]] = defaultdict(set)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add a phase of a test."""
        group = group_of(report.nodeid, self._config.rootpath)
        self._seconds[group] += report.duration
        self._tests[group].add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Keep what was measured beside what was known of other groups."""
        cache = getattr(self._config, "cache", None)
        if cache is None or not self._tests:
            return
        known = cache.get(SECONDS, {})
        found = {group: round(self._seconds[group] / len(tests), 3) for group, tests in self._tests.items()}
        cache.set(SECONDS, {**known, **found})


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling:
    """Divide the tests as above."""
    config.pluginmanager.register(Stopwatch(config))
    return Scheduling(config, log)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile a share of the test files for all processes.

    Each of them imports every file. Where none was compiled yet each would rewrite every assertion, which
    takes twice as long as all else that it does before the first test.
    """
    process: dict[str, str | int] | None = getattr(session.config, "workerinput", None)
    if process is None or sys.dont_write_bytecode:
        return
    number, count = int(str(process["workerid"]).removeprefix("gw")), int(process["workercount"])
    for file in _test_files(session.config)[number::count]:
        _compile(file, session.config)


def _test_files(config: pytest.Config) -> list[Path]:
    """Return the test files below what was asked for."""
    asked = [config.invocation_params.dir / argument.partition("::")[0] for argument in config.args]
    below = {file for path in asked for file in ([path] if path.is_file() else path.rglob("test_*.py"))}
    return sorted(below)


def _compile(file: Path, config: pytest.Config) -> None:
    """Keep what pytest makes of a test file, where it will look for it."""
    folder = rewrite.get_cache_dir(file)
    compiled = folder / f"{file.stem}{rewrite.PYC_TAIL}"
    if rewrite._read_pyc(file, compiled) is None and rewrite.try_makedirs(folder):
        source, code = rewrite._rewrite_test(file, config)
        rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, source, compiled)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Escape what UTF-8 cannot hold, such as the names of some files: xdist could not send the report."""
    report = yield
    report.sections = [(name, _escaped(text)) for name, text in report.sections]
    if report.longrepr is not None and _escaped(str(report.longrepr)) != str(report.longrepr):
        report.longrepr = _escaped(str(report.longrepr))
    return report


def _escaped(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()
