"""A broker that is killed while groups are read and changed harms nobody but the calls under way."""

import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.ports import free_ports
from copycat_testkit.kafka import create_topic, wait_until

from tests.integration.offset.calling_groups import CALLERS

pytestmark = pytest.mark.long

KILLS = 20
#: A killed broker may register again once its former session has ended, 9 s by default.
QUICK_RETURN = {"broker.session.timeout.ms": "500", "broker.heartbeat.interval.ms": "100"}


@contextmanager
def _calling(bootstrap: str, topic: str) -> Iterator[tuple[subprocess.Popen[str], Counter[str]]]:
    """Run the callers in a process; also counts who has had an answer."""
    command = [sys.executable, "-m", "tests.integration.offset.calling_groups", bootstrap, topic]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    answered: Counter[str] = Counter()
    try:
        threading.Thread(target=_count, args=(process.stdout or (), answered), daemon=True).start()
        yield process, answered
    finally:
        process.kill()
        process.wait()


def _count(lines: Iterable[str], answered: Counter[str]) -> None:
    for line in lines:
        answered[line] += 1


@pytest.mark.timeout(600)
def test_the_process_that_uses_groups_outlives_twenty_kills_of_the_broker(tmp_path: Path) -> None:
    with EmbeddedKafka(tmp_path, port=free_ports(1)[0], settings=QUICK_RETURN) as broker:
        topic = create_topic(broker.bootstrap)
        with _calling(broker.bootstrap, topic) as (process, answered):
            for kill in range(KILLS + 1):
                answered.clear()
                wait_until(
                    lambda: len(answered) == CALLERS or process.poll() is not None,
                    60,
                    f"an answer for each caller after {kill} kills",
                )
                assert process.poll() is None, f"it ended with {process.poll()} after {kill} kills"
                if kill < KILLS:
                    broker.kill()
                    broker.start()
