"""What a running system makes of failures, one after the other: it heals by itself and loses nothing.

A short set of `make recovery-table`, which measures all of them; nothing here depends on how long it takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tools.recovery_table.measure import measure
from tools.recovery_table.strikes import ROWS, Row
from tools.recovery_table.system import FaultySystem, faulty_system

pytestmark = [pytest.mark.timeout(400), pytest.mark.long]

#: Hung services are replaced soon, since there are many of them; and calls are given up soon.
SETTINGS = {"service.hang.timeout.ms": "10000", "task.call.timeout.ms": "10000"}
PATIENCE_SECONDS = 150.0
#: The executors last: after each of them the next one waits until a new Spark is there.
CASES = (
    ROWS["kill -9 of the task host"],
    ROWS["a hang in put"],
    *(ROWS[f"SIGSTOP of the {service} service"] for service in ("config", "offset", "status")),
    ROWS["SIGSTOP of the scheduler"],
    ROWS["SIGSTOP of the gateway"],
    replace(ROWS["network to Kafka cut for 30 s"], name="network to Kafka cut", away_seconds=5.0),
    replace(ROWS["disk full under the sink for 30 s"], name="disk full under the sink", away_seconds=5.0),
    ROWS["kill -9 of the executor"],
    ROWS["SIGSTOP of the executor"],
)


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultySystem]:
    with faulty_system(tmp_path_factory.mktemp("recovery"), SETTINGS) as running:
        yield running


@pytest.mark.parametrize("row", CASES, ids=lambda row: str(row.name))
def test_a_failure_heals_by_itself_and_loses_nothing(system: FaultySystem, row: Row) -> None:
    outcome = measure(system, row, PATIENCE_SECONDS)

    assert outcome.healed, outcome
    assert outcome.whole is not None, "every service is back"
    assert outcome.flows == 0 or outcome.status_true is not None, "the status said that it stood"
