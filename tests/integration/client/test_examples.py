"""The client's examples run against a real system and say what they are expected to say."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
from copycat_client.client import CopycatClient
from copycat_client.configs import Configs
from copycat_client.executors import Executor, Executors
from copycat_client.offsets import Offsets
from copycat_client.scheduler import Scheduler
from copycat_client.statuses import Statuses

pytestmark = [pytest.mark.timeout(240), pytest.mark.row("K26-41"), pytest.mark.long]

EXAMPLES = Path(__file__).parents[3] / "libs/client/examples"
SAID = {
    "configs": """
        created True
        refused connector.exists
        target state PAUSED
        listed True
        task set changed False
        gone connector.unknown example-configs
        """,
    "offsets": r"""
        position {'position': 8}
        refused generation.stale
        group \(Position\(topic='example-offsets', partition=0, offset=1\),\)
        altered {'position': 2}
        before the last change {'position': 8}
        reset \(\)
        would repeat 1
        deleted \(\)
        """,
    "statuses": r"""
        task RUNNING
        listed True
        unchanged True
        topics \['example-statuses'\]
        topics \[\]
        unknown status.unknown
        """,
    "scheduler": r"""
        worker 127.0.0.1:\d+ working \d+
        (assigned Instance\(connector='.+', task=\S+\) 127.0.0.1:\d+
        )*cluster [\w-]{22}
        watch begins with a snapshot: True
        lease 10.0
        """,
    "executors": r"""
        plugins True
        first key file
        errors 0
        wrong \['tasks.max'\]
        offsets work True
        effects \(SourceEffect\(repeated=None, skipped=None, unit=''\),\)
        offsets of a time None
        restarted by a worker with plugins True
        none: No worker runs connector example-unknown. Ask again once it is assigned
        """,
    "watching": r"""
        health {'config': True, 'offset': True, 'status': True, 'scheduler': True}
        in the snapshot True
        removed example-watching
        late: No answer from 127.0.0.1:\d+ \(deadline_exceeded\): is the service running there\?
        """,
}


@pytest.mark.parametrize("name", SAID)
def test_an_example_says_what_it_is_expected_to(name: str, worker: Path) -> None:
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), str(worker)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
    expected = re.sub(r"^\s+", "", SAID[name], flags=re.MULTILINE)
    assert ran.returncode == 0, ran.stderr
    assert re.fullmatch(expected, ran.stdout), ran.stdout


def test_every_example_is_run() -> None:
    assert {file.stem for file in EXAMPLES.glob("*.py")} == set(SAID)


@pytest.mark.parametrize(
    "client", [Configs, Offsets, Statuses, Scheduler, Executors, Executor, CopycatClient]
)
def test_every_call_is_in_an_example(client: type) -> None:
    text = "".join(file.read_text() for file in EXAMPLES.glob("*.py"))
    calls = [name for name, _ in inspect.getmembers(client, inspect.isfunction) if not name.startswith("_")]
    assert [name for name in calls if f".{name}(" not in text and name != "close"] == []


@pytest.mark.parametrize(
    "client", [Configs, Offsets, Statuses, Scheduler, Executors, Executor, CopycatClient]
)
def test_every_call_is_documented(client: type) -> None:
    calls = [
        call for name, call in inspect.getmembers(client, inspect.isfunction) if not name.startswith("_")
    ]
    assert all(call.__doc__ for call in calls)
