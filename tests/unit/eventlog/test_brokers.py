"""Waiting for what brokers answer."""

from __future__ import annotations

import threading
from concurrent.futures import Future

import pytest
from copycat_connect.errors import UnavailableError
from copycat_embedded.ports import free_ports
from copycat_eventlog import brokers
from copycat_eventlog.brokers import Brokers


class LateAnswer(Future[str]):
    """Comes after so many waits, each of which is over at once."""

    def __init__(self, waits: float) -> None:
        super().__init__()
        self.waits = waits

    def result(self, timeout: float | None = None) -> str:
        assert timeout is not None, "a cancelled start would hang"
        if self.waits:
            self.waits -= 1
            raise TimeoutError
        return "late"


@pytest.fixture
def nobody() -> dict[str, str | int | bool]:
    return {"bootstrap.servers": f"127.0.0.1:{free_ports(1)[0]}", "log_level": 2}


def test_a_late_answer_is_an_answer(
    nobody: dict[str, str | int | bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(brokers, "REQUEST_TIMEOUT_SECONDS", 0.05)
    assert Brokers(nobody, within=60).ask(LateAnswer(20)) == "late"


def test_no_answer_in_time_says_how_long_was_waited(nobody: dict[str, str | int | bool]) -> None:
    with pytest.raises(UnavailableError, match=r"did not answer within 0\.1 s"):
        Brokers(nobody, within=0.1).ask(LateAnswer(float("inf")))


def test_a_cancelled_start_waits_no_longer(nobody: dict[str, str | int | bool]) -> None:
    cancelled = threading.Event()
    cancelled.set()
    with pytest.raises(UnavailableError):
        Brokers(nobody, within=3600, cancelled=cancelled).ask(LateAnswer(float("inf")))
