"""The embedded broker, real: it starts, keeps its data, and never outlives its owner."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from copycat_embedded.broker import EmbeddedKafka
from copycat_testkit.kafka import consume_all, create_topic, produce, wait_until
from copycat_testkit.processes import lives

pytestmark = pytest.mark.long

OWNER = """
import sys, threading
from pathlib import Path
from copycat_embedded.broker import EmbeddedKafka
broker = EmbeddedKafka(Path(sys.argv[1]))
broker.start()
print(broker.process_id, flush=True)
threading.Event().wait()
"""


def test_records_come_back_in_order(kafka: str) -> None:
    topic = create_topic(kafka)
    produce(kafka, topic, [b"one", b"two", None])
    assert [message.value() for message in consume_all(kafka, topic)] == [b"one", b"two", None]


def test_a_second_start_finds_the_data_of_the_first(tmp_path: Path) -> None:
    broker = EmbeddedKafka(tmp_path)
    with broker:
        produce(broker.bootstrap, create_topic(broker.bootstrap, "kept"), [b"here"])
    with broker:
        assert [message.value() for message in consume_all(broker.bootstrap, "kept")] == [b"here"]


def test_a_stopped_broker_leaves_no_process(tmp_path: Path) -> None:
    with EmbeddedKafka(tmp_path) as broker:
        process = psutil.Process(broker.process_id)
    assert not process.is_running()


def test_the_broker_dies_with_an_owner_killed_hard(tmp_path: Path) -> None:
    owner = subprocess.Popen([sys.executable, "-c", OWNER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    broker = psutil.Process(int(owner.stdout.readline()))
    os.kill(owner.pid, signal.SIGKILL)
    owner.wait()
    owner.stdout.close()
    wait_until(lambda: not lives(broker), 20, "the broker's end")
