"""How a harm is done to a running system, and what should become of it."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from typing import Any, Final

import httpx2
import psutil
from copycat_testkit.eventually import wait

from tools.isolation_table.measure import Harm
from tools.isolation_table.system import NEIGHBOURS, Neighbourhood

CULPRIT: Final = "culprit"
#: The user whose processes may do what anybody may.
NOBODY: Final = 65534
VERDICT_SECONDS: Final = 120.0
SECRET: Final = "open-sesame-4711"  # noqa: S105 - what must not be found
BACKTRACKING: Final = "(a|aa)+$b"
LONG_NAME: Final = "a" * 100
PRINTED: Final = "printed"
"""A file that the plugin makes when it has printed all."""
DIGITS: Final = "9" * 5_000
#: More than what a plugin prints in one row: logs of everybody together.
MAX_LOG_BYTES: Final = 60_000_000

Do = Callable[[Neighbourhood], str]


def hostile(call: str, harm: str, **more: str) -> dict[str, str]:
    """Return the configuration of a source that does harm in a call."""
    config = {"connector.class": "hostile.HostileSource", "topic": CULPRIT, "partitions": "1"}
    return {**config, "tasks.max": "1", "at.once": "1", "harm": f"{call} {harm}", **more}


def hostile_sink(call: str, harm: str, **more: str) -> dict[str, str]:
    """Return the configuration of a sink of a neighbour's records that does harm in a call."""
    config = {"connector.class": "hostile.HostileSink", "topics": NEIGHBOURS[0], "tasks.max": "1"}
    return {**config, "harm": f"{call} {harm}", **more}


def mirror(**more: str) -> dict[str, str]:
    """Return the configuration of a mirror; its source is the broker itself unless another is given."""
    name = "org.apache.kafka.connect.mirror.MirrorSourceConnector"
    target = {"target.cluster.bootstrap.servers": "{bootstrap}"}
    return {"connector.class": name, "tasks.max": "1", "source.cluster.alias": "far", **target, **more}


def lines(file: str, **more: str) -> dict[str, str]:
    """Return the configuration of a source of lines."""
    return {"connector.class": "FileStreamSource", "tasks.max": "1", "file": file, "topic": CULPRIT, **more}


def fails(config: Mapping[str, str], *words: str) -> Do:
    """Return what creates a connector, which is FAILED with a reason that has these words."""

    def do(system: Neighbourhood) -> str:
        create(system, config)
        _await(system, lambda: bool(_failure(system.status(CULPRIT))), "not FAILED")
        trace = _failure(system.status(CULPRIT))
        missing = [word for word in words if word not in trace]
        assert not missing, f"FAILED, without {missing}: {trace[:500]}"
        return f"FAILED: {_short(trace)}"

    return do


def each_fails(*configs: Mapping[str, str]) -> Do:
    """Return what creates one connector after another, each of which is FAILED with its reason."""

    def do(system: Neighbourhood) -> str:
        said = []
        for config in configs:
            remove(system)
            said.append(fails(config)(system).removeprefix("FAILED: "))
        return f"FAILED: {'; '.join(dict.fromkeys(said))}"

    return do


def each_says(*configs: Mapping[str, str], words: tuple[str, ...]) -> Do:
    """Return what creates one connector after another, whose health, reasons and traces have these words."""

    def do(system: Neighbourhood) -> str:
        said = []
        for config in configs:
            remove(system)
            said.append(says(config, *words)(system))
        return "; ".join(dict.fromkeys(said))

    return do


def each_can_be_deleted(*configs: Mapping[str, str]) -> Do:
    """Return what creates one connector after another, and deletes each while it runs."""

    def do(system: Neighbourhood) -> str:
        for config in configs:
            create(system, config)
            _await(system, lambda: runs(system, CULPRIT), "not RUNNING")
            remove(system)
            _await(system, lambda: not system.status(CULPRIT), "still there")
        create(system, hostile("never", "hangs"))
        _await(system, lambda: runs(system, CULPRIT), "none of its name can be created afterwards")
        return "deleted, and one of its name that is created afterwards runs"

    return do


def says(config: Mapping[str, str], *words: str) -> Do:
    """Return what creates a connector, whose health, reasons and traces have these words."""

    def do(system: Neighbourhood) -> str:
        create(system, config)

        def told() -> bool:
            text = reasons(system.status(CULPRIT))
            return all(word in text for word in words)

        _await(system, told, f"its status does not say {words}")
        status = system.status(CULPRIT)
        return f"{status['connector']['state']}: {_short(reasons(status))}"

    return do


def refused(config: Mapping[str, str], *words: str, name: str = CULPRIT) -> Do:
    """Return what asks for a connector that is refused with a text that has these words."""

    def do(system: Neighbourhood) -> str:
        body = {"name": name, "config": {**config}}
        reply = system.call("POST", "/connectors", body)
        assert reply.is_error, f"{reply.status_code}: {reply.text[:300]}"
        missing = [word for word in words if word not in reply.text]
        assert not missing, f"refused, without {missing}: {reply.text[:500]}"
        return f"refused with {reply.status_code}: {_short(reply.json()['message'])}"

    return do


def remove(system: Neighbourhood) -> None:
    """Delete the culprit."""
    system.remove(CULPRIT)


def row(point: str, name: str, do: Do) -> Harm:
    """Return a harm that is undone by deleting the culprit."""
    return Harm(point, name, do, remove)


def _placed(config: Mapping[str, str], system: Neighbourhood) -> dict[str, str]:
    return {
        key: value.format(bootstrap=system.broker.bootstrap, folder=system.folder)
        if "{bootstrap}" in value or "{folder}" in value
        else value
        for key, value in config.items()
    }


def _await(system: Neighbourhood, condition: Callable[[], bool], otherwise: str) -> None:
    """Wait for a verdict; what the status of the culprit says instead is in the error."""
    try:
        wait(condition, VERDICT_SECONDS, otherwise)
    except TimeoutError as error:
        raise TimeoutError(f"{error}: {system.status(CULPRIT)}") from None


def create(system: Neighbourhood, config: Mapping[str, str]) -> None:
    """Create the culprit, with the topics that it may read or write."""
    system.make_topic(CULPRIT)
    system.make_topic(LONG_NAME)
    reply = system.create(CULPRIT, _placed(config, system))
    assert reply.is_success, f"refused with {reply.status_code}: {reply.text[:300]}"


def runs(system: Neighbourhood, name: str) -> bool:
    """Say whether a connector's only task runs."""
    return [each["state"] for each in system.status(name).get("tasks", ())] == ["RUNNING"]


def _failure(status: Mapping[str, Any]) -> str:
    if not status:
        return ""
    parts = (status["connector"], *status["tasks"])
    return next((part.get("trace", "no trace") for part in parts if part["state"] == "FAILED"), "")


def reasons(status: Mapping[str, Any]) -> str:
    """Return all that a status says beyond its states."""
    if not status:
        return ""
    parts = (status, status["connector"], *status["tasks"])
    return "; ".join(
        str(part[key]) for part in parts for key in ("health", "reason", "trace") if part.get(key)
    )


def _short(text: str) -> str:
    """Return a text in one line, without the lines of a trace behind its first."""
    return " ".join(text.split("\n\tat ", maxsplit=1)[0].split())


def printed_much(system: Neighbourhood) -> str:
    """Have a task print 300 MB, and see it go on afterwards."""
    create(system, hostile("poll", "prints", done=str(system.folder / PRINTED)))
    wait((system.folder / PRINTED).exists, VERDICT_SECONDS, "it does not go on")
    size = sum(path.stat().st_size for path in system.logs.rglob("*.log*"))
    assert size < MAX_LOG_BYTES, f"the logs have {size >> 20} MB"
    return f"goes on; all logs together have {size >> 20} MB"


def leaked(call: str) -> Do:
    """Return what has a connector say its secret in every way in one call; its status has the error."""

    def do(system: Neighbourhood) -> str:
        (system.folder / "secrets.properties").write_text(f"password={SECRET}\n")
        config = hostile(call, "leaks", secret=f"${{file:{system.folder}/secrets.properties:password}}")
        said = says(config, "could not log in")(system)
        found = [
            path for path in system.logs.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()
        ]
        assert not found, f"the secret is in {', '.join(path.name for path in found)}"
        everything = f"{system.status(CULPRIT)} {system.call('GET', f'/connectors/{CULPRIT}/history').text}"
        assert SECRET not in everything, "status or history has the secret"
        return f"no secret in logs, status and history; {said}"

    return do


def from_another_page(headers: Mapping[str, str]) -> Do:
    """Return what sends what a browser sends for a page that is not ours."""

    def do(system: Neighbourhood) -> str:
        body = {"name": CULPRIT, "config": hostile("never", "hangs")}
        reply = system.call("POST", "/connectors", body, headers)
        assert reply.status_code == httpx2.codes.FORBIDDEN, f"{reply.status_code}: {reply.text[:300]}"
        assert not system.status(CULPRIT), "it was created"
        return f"403: {_short(reply.json()['message'])}"

    return do


def smuggled(system: Neighbourhood) -> str:
    """Send a request with two lengths, and another one in its body."""
    inner = b"DELETE /connectors/healthy-9 HTTP/1.1\r\nHost: localhost\r\n\r\n"
    head = b"POST /connectors HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    head += b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"
    with socket.create_connection(("127.0.0.1", system.up.port), timeout=30) as connection:
        connection.sendall(head + inner)
        answers = b""
        while more := connection.recv(65536):
            answers += more
    assert answers.count(b"HTTP/1.1 ") == 1, f"answered twice: {answers!r}"
    return f"{answers.splitlines()[0].decode()}, then closed"


def unreadable(topic: str, key: bytes, value: bytes = b"{}") -> Do:
    """Return what writes a record that cannot be read into a topic of Copycat's."""

    def do(system: Neighbourhood) -> str:
        system.write(topic, key, value)
        after = _answers(system)
        said = str(system.call("GET", "/health").json()["message"])
        assert topic in said, f"health does not name the topic: {said}"
        passed = said[said.find("Records that could not be read") :]
        return f"skipped; {after}; /health: {_short(passed)}"

    return do


def compressed(codec: str) -> Do:
    """Return what writes a compressed record into each topic that Kafka Connect knows."""

    def do(system: Neighbourhood) -> str:
        for topic in ("connect-configs", "connect-offsets", "connect-status"):
            system.write(topic, f"unknown-{codec}".encode(), b"{}" * 100, compression_type=codec)
        return f"read; {_answers(system)}"

    return do


def _answers(system: Neighbourhood) -> str:
    """Make a change in each log and see it, so that all are read to their ends; returns what was seen."""
    reply = system.create("after", {**hostile("never", "hangs"), "topic": "after"})
    assert reply.is_success, f"{reply.status_code}: {reply.text[:300]}"
    wait(
        lambda: runs(system, "after"),
        VERDICT_SECONDS,
        "a connector that is created afterwards does not run",
    )
    system.remove("after")
    return "a connector that is created afterwards runs"


def deleted(topic: str) -> Do:
    """Return what deletes an internal topic."""

    def do(system: Neighbourhood) -> str:
        system.admin.delete_topics([topic])[topic].result(VERDICT_SECONDS)

        def told() -> bool:
            return topic in system.call("GET", "/health").text

        wait(told, VERDICT_SECONDS, f"/health does not name {topic}")
        said = str(system.call("GET", "/health").json()["message"])
        names = system.call("GET", "/connectors").json()
        assert set(NEIGHBOURS) <= set(names), f"the connectors can no longer be saved: {names}"

        def reason() -> str:  # who asks at the same moment may hear what was so a second ago
            return str(system.status(NEIGHBOURS[0]).get("health", {}).get("reason", ""))

        wait(lambda: bool(reason()), VERDICT_SECONDS, "a connector is healthy though what it needs is gone")
        return f"named by /health: {_short(said)}; a connector's health: {_short(reason())}"

    return do


def knocks(system: Neighbourhood) -> str:
    """Connect 300 times to every port that Copycat's programs listen on, as another user of the machine."""
    assert os.getuid() == 0, "only root can become another user: run it as root"
    before = len(system.up.processes("host"))
    ports = _listening(system)
    here, there = Pipe()
    stranger = get_context("fork").Process(target=_knock, args=(ports, there))
    stranger.start()
    try:
        assert here.poll(VERDICT_SECONDS), "not all connections were made or refused"
        held = here.recv()
        most = len(system.up.processes("host"))
    finally:
        here.send(None)
        stranger.join()
    assert most < before + 10, f"{most - before} processes more"
    return f"{held} connections to {len(ports)} ports, {most - before} processes more"


def _knock(ports: Sequence[int], teller: Connection) -> None:
    """Hold 300 connections to each port until stopped."""
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    held = []
    for port in ports:
        for _ in range(300):
            try:
                held.append(socket.create_connection(("127.0.0.1", port), timeout=1))
            except OSError:
                break
    teller.send(len(held))
    teller.recv()


def _listening(system: Neighbourhood) -> list[int]:
    found = set()
    for process in psutil.Process(system.up.pid).children(recursive=True):
        for each in process.net_connections("tcp"):
            if each.status == psutil.CONN_LISTEN and each.laddr.port != system.up.port:
                found.add(each.laddr.port)
    return sorted(found)
