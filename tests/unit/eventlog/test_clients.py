"""Properties of Java clients for the clients used here; names of instances.

Waiting for what brokers answer.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import Future

import pytest
from copycat_connect.errors import ConfigError, UnavailableError
from copycat_embedded.ports import free_ports
from copycat_eventlog import brokers
from copycat_eventlog.brokers import Brokers
from copycat_eventlog.clients import aiokafka_config, librdkafka_config, read_security, tls_context
from copycat_eventlog.identity import instance_name, is_dead

SCRAM = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "SCRAM-SHA-512",
    "sasl.jaas.config": (
        'org.apache.kafka.common.security.scram.ScramLoginModule required username="me" password="p=1;";'
    ),
}


def test_plain_text_is_the_default() -> None:
    security = read_security({})
    assert librdkafka_config("a:1", security)["security.protocol"] == "PLAINTEXT"
    assert aiokafka_config("a:1, b:2", security)["bootstrap_servers"] == ["a:1", "b:2"]
    assert tls_context(security) is None


def test_a_login_is_read_from_the_jaas_text() -> None:
    security = read_security(SCRAM)
    config = librdkafka_config("a:1", security)
    assert (config["sasl.username"], config["sasl.password"]) == ("me", "p=1;")
    assert config["sasl.mechanism"] == "SCRAM-SHA-512"
    assert aiokafka_config("a:1", security)["sasl_plain_password"] == "p=1;"


def test_pem_stores_become_files() -> None:
    security = read_security({
        "security.protocol": "SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": "/ca.pem",
        "ssl.endpoint.identification.algorithm": "",
    })  # fmt: skip
    config = librdkafka_config("a:1", security)
    assert config["ssl.ca.location"] == "/ca.pem"
    assert config["ssl.endpoint.identification.algorithm"] == "none"


@pytest.mark.parametrize(
    ("properties", "says"),
    [
        ({"ssl.truststore.location": "/a.jks"}, "convert /a.jks to PEM"),
        (
            {"security.protocol": "SASL_SSL", "sasl.mechanism": "GSSAPI"},
            "sasl.mechanism=GSSAPI is not supported",
        ),
    ],
)
def test_what_only_java_reads_is_refused_with_the_fix(properties: dict[str, str], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        read_security(properties)


def test_an_instance_that_runs_is_not_dead() -> None:
    assert not is_dead(instance_name("log"))


def test_an_instance_that_ended_is_dead() -> None:
    program = "from copycat_eventlog.identity import instance_name; print(instance_name('a.b-c'))"
    name = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert is_dead(name.strip())


def test_an_instance_nobody_has_reaped_is_dead() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    name = ".".join([*instance_name("log").split(".")[:2], str(child), "0"])
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    assert is_dead(name)
    os.waitpid(child, 0)


@pytest.mark.parametrize("name", ["", "faust-1", "log.0123.77.ab", "log..77.ab"])
def test_of_an_instance_elsewhere_nothing_is_known(name: str) -> None:
    assert not is_dead(name)


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
