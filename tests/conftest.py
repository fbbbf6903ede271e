"""What every test may ask for, and which tests share a process when several processes run them."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling

if TYPE_CHECKING:
    from xdist.remote import Producer

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

#: How the names of tests begin, the longest groups first: the short ones then fill what is left of the time
#: of each process. Those with one system for many files come before those that are divided by file.
LONGEST_FIRST = (
    "tests/integration/scenarios/test_",
    "tests/integration/kip26/",
    "tests/integration/scenarios/",
    "tests/integration/stores/",
    "tests/integration/plugins/",
    "tests/chaos/",
    "tests/integration/launcher/",
    "tests/compat/",
    "tests/integration/",
    "tests/contract/executor/",
    "tests/contract/gateway/",
    "tests/contract/",
    "tests/laws/",
)


class Scheduling(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """Gives a process all tests that share a system: those of a package, elsewhere those of a file."""

    def _split_scope(self, nodeid: str) -> str:
        file = Path(nodeid.partition("::")[0])
        is_package = (self.config.rootpath / file.parent / "__init__.py").exists()
        return str(file.parent if is_package else file)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling:
    """Divide the tests as above."""
    return Scheduling(config, log)


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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the groups that take longest; within one the order stays."""
    items.sort(key=_rank)


def _rank(item: pytest.Item) -> int:
    found = (rank for rank, beginning in enumerate(LONGEST_FIRST) if item.nodeid.startswith(beginning))
    return next(found, len(LONGEST_FIRST))
