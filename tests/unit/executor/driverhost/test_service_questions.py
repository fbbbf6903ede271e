"""How a partition of Spark asks its driver: what it hears, who is not heard, whose answers do not count."""

from __future__ import annotations

import socket
import threading
from dataclasses import replace

import pytest
from copycat_connect.errors import ConnectError, RetriableError
from copycat_executor.driverhost.service_questions import DriverLine, PartitionLine

from tests.unit.pipeline.fakes import FakeLink

LOOPBACK = ("127.0.0.1", "localhost")


def test_a_driver_says_why_it_has_no_answer_and_none_to_strangers_and_none_when_it_has_ended() -> None:
    link = FakeLink(away=1, fences=[ConnectError("the brokers refuse")])
    served = PartitionLine(link, LOOPBACK)
    with pytest.raises(RetriableError, match="away"):
        served.line.source_offsets([b"{}"])
    with pytest.raises(ConnectError, match="the brokers refuse"):
        served.line.await_fence()
    with pytest.raises(ConnectError, match="has ended"):
        replace(served.line, token="another").await_fence()
    served.close()
    with pytest.raises(OSError, match="refused"):
        served.line.await_fence()


def test_an_answer_of_somebody_else_who_has_heard_the_question_is_refused() -> None:
    def answer() -> None:
        connection, _ = stranger.accept()
        with connection, connection.makefile("rwb") as line:
            line.write(b"nonce\n")
            line.flush()
            proof, _, _ = line.readline().partition(b" ")
            line.write(proof + b' {"error": null, "found": [null]}\n')

    with socket.create_server(("127.0.0.1", 0)) as stranger:
        threading.Thread(target=answer, daemon=True).start()
        line = DriverLine("127.0.0.1", stranger.getsockname()[1], "token")
        with pytest.raises(ConnectError, match="Somebody else"):
            line.source_offsets([b"{}"])
