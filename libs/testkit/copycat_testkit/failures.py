"""A pytest plugin: the report of a failed test says what the running systems were doing."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Final

import httpx2
import pytest

from copycat_testkit.system import CopycatUp, running_systems

#: Lines of its logs that a system shows, the last ones of all services.
LINES: Final = 30
#: Characters of a log file that are looked at.
TAIL_CHARACTERS: Final = 200_000
SHOWN_CHARACTERS: Final = 400
SECONDS: Final = 10.0
_LEVELS: Final = ("WARN", "ERROR")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add a section for each `copycat up` of this process."""
    if call.excinfo is not None and item.config.pluginmanager.hasplugin("timeout"):
        # The test is over. Outside of it pytest takes the end of its time limit for an error of its own.
        item.ihook.pytest_timeout_cancel_timer(item=item)
    report = yield
    if report.failed:
        report.sections += [(f"copycat up at {each.url}", described(each)) for each in running_systems()]
    return report


def described(system: CopycatUp) -> str:
    """Return its connectors with their states, and the last warnings and errors of its logs."""
    troubles = sorted(line for file in (system.folder / "logs").glob("*.log") for line in _troubles(file))
    return "\n".join((*_states(system.url), *troubles[-LINES:]))


def _states(url: str) -> Iterator[str]:
    try:
        found = httpx2.get(f"{url}/connectors", params={"expand": "status"}, timeout=SECONDS).json()
    except (httpx2.HTTPError, ValueError) as error:
        yield f"its statuses cannot be read: {error!r}"
        return
    for name, each in found.items():
        status = each.get("status", each)
        tasks = [f"{task.get('state')} {task.get('reason') or ''}" for task in status.get("tasks", ())]
        yield f"{name}: {status.get('connector')} {tasks}"[:SHOWN_CHARACTERS]


def _troubles(file: Path) -> Iterator[str]:
    text = file.read_text(errors="replace")[-TAIL_CHARACTERS:]
    for line in text.splitlines():
        try:
            said = json.loads(line)
        except ValueError:
            continue
        if said.get("level") in _LEVELS:
            yield f"{said.pop('time', '')} {file.stem} {json.dumps(said)}"[:SHOWN_CHARACTERS]
