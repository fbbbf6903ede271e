"""The log source: logs that are rotated while hosts are killed, and an agent with one folder and a broker."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from pathlib import Path
from typing import Any

import copycat_plugins
import httpx2
import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from copycat_embedded.ports import free_ports
from copycat_testkit.commands import Commands
from copycat_testkit.kafka import consume_all, headers_in, unique, wait_until
from copycat_testkit.system import CopycatUp

pytestmark = pytest.mark.timeout(300)

PAGE = Path(copycat_plugins.__file__).parent / "connectors/log_source/README.md"
HIT = '10.0.0.1 - - [23/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 12\n'
TRACE = "2026-11-23 10:00:00 ERROR it broke\n  at here\n  at there\n"


def examples() -> list[str]:
    """Return the configurations of the page, in its order."""
    return re.findall(r"```properties\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


@pytest.mark.row("K26-96")
def test_a_machine_with_an_agent_and_a_broker_sends_its_logs(kafka: str, tmp_path: Path) -> None:
    home, mark = tmp_path / "machine", unique("agent")
    nginx, app = home / "var/log/nginx", home / "srv/app"
    for folder in (nginx, app):
        folder.mkdir(parents=True)
    (home / "var/log/system.log").write_text("started é\n", "utf-8")
    (nginx / "access.log").write_text(f"{HIT}nothing of it\n")
    (app / "server.log.1").write_text(TRACE)
    (app / "server.log").write_text("2026-11-24 10:00:00 INFO on we go\n2026-11-25 10:00:00 INFO the last\n")
    worker = home / "worker.properties"
    worker.write_text(
        f"bootstrap.servers={kafka}\nlisteners=http://127.0.0.1:{free_ports(1)[0]}\n"
        f"offset.storage.file.filename={home}/offsets\noffset.flush.interval.ms=200\n"
        "key.converter=org.apache.kafka.connect.storage.StringConverter\n"
        "value.converter=org.apache.kafka.connect.json.JsonConverter\nvalue.converter.schemas.enable=false\n"
    )
    files = []
    for number, example in enumerate(examples()):
        text = re.sub(
            r"^(files=|.*,)/", rf"\1{home}/", example.replace(",/", f",{home}/"), flags=re.MULTILINE
        )
        text = re.sub(
            r"^(topic|errors.deadletterqueue.topic.name)=", rf"\1={mark}-", text, flags=re.MULTILINE
        )
        text = text.replace(":web", f":{mark}-web")
        files.append(home / f"example-{number}.properties")
        files[-1].write_text(f"name=example-{number}\nconnector.class=LogSource\n{text}", "utf-8")
    before = set(AdminClient({"bootstrap.servers": kafka}).list_topics(timeout=30).topics)

    def written(topic: str) -> list[bytes]:
        if f"{mark}-{topic}" not in AdminClient({"bootstrap.servers": kafka}).list_topics(timeout=30).topics:
            return []
        return [message.value() or b"null" for message in consume_all(kafka, f"{mark}-{topic}")]

    def read(topic: str) -> list[object]:
        return [json.loads(value) for value in written(topic)]

    commands = Commands(home, {"HOME": str(home)})
    try:
        agent = commands.start("standalone", worker, *files)
        agent.wait_ready(180)
        wait_until(lambda: read("logs") == ["started é"], 60, "the log of the machine")
        wait_until(lambda: read("web") == [HIT.rstrip("\n"), "nothing of it"], 60, "the logs of a directory")
        wait_until(lambda: len(read("access")) == 1, 60, "the fields of a hit")
        wait_until(lambda: written("access-unreadable") == [b"nothing of it"], 60, "the line of another form")
        wait_until(lambda: len(read("server")) == 3, 60, "records of several lines")
        agent.end(signal.SIGKILL)
        (app / "server.log").rename(app / "server.log.2")
        (app / "server.log").write_text("2026-11-26 10:00:00 INFO new\n2026-11-27 10:00:00 INFO newer\n")
        again = commands.start("standalone", worker, *files)
        again.wait_ready(180)
        wait_until(lambda: len(set(map(str, read("server")))) == 5, 60, "the records of the new file")
        assert again.end() == 0
    finally:
        commands.close()

    assert read("access") == [
        {
            "host": "10.0.0.1",
            "user": "-",
            "time": "23/Nov/2026:10:00:00 +0000",
            "request": "GET / HTTP/1.1",
            "status": 200,
            "bytes": 12,
        }
    ]
    # At least once: after a kill some may come again.
    assert [
        str(value).partition(" INFO ")[2] or value for value in dict.fromkeys(map(str, read("server")))
    ] == [
        TRACE.rstrip("\n"),
        "on we go",
        "the last",
        "new",
        "newer",
    ]
    (message,) = consume_all(kafka, f"{mark}-logs")
    assert dict(headers_in(message)) == {
        "file.path": f"{home}/var/log/system.log".encode(),
        "file.offset": b"0",
    }
    made = set(AdminClient({"bootstrap.servers": kafka}).list_topics(timeout=30).topics) - before
    assert {topic for topic in made if not topic.startswith(mark)} <= {"__consumer_offsets"}


KILLS = 2
LINES = 6_000
"""Lines added to each log before and after each rotation."""
STRING = "org.apache.kafka.connect.storage.StringConverter"


class Logs:
    """Three logs: one is renamed when it is rotated, one copied and truncated, one only grows."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names = ("renamed.log", "copied.log", "plain.log")
        self.written = 0

    def write(self) -> None:
        for name in self.names:
            with (self.folder / name).open("a", encoding="utf-8") as file:
                file.writelines(f"{name} {self.written + number} é\n" for number in range(LINES))
        self.written += LINES

    def rotate(self) -> None:
        for number in range(8, 0, -1):
            for name in self.names:
                if (old := self.folder / f"{name}.{number}").exists():
                    old.rename(self.folder / f"{name}.{number + 1}")
        (self.folder / "renamed.log").rename(self.folder / "renamed.log.1")
        shutil.copy(self.folder / "copied.log", self.folder / "copied.log.1")
        os.truncate(self.folder / "copied.log", 0)


def put(system: CopycatUp, name: str, config: dict[str, str]) -> None:
    httpx2.put(f"{system.url}/connectors/{name}/config", json=config, timeout=90).raise_for_status()


def values(kafka: str, topic: str) -> list[str]:
    try:
        return [(message.value() or b"").decode() for message in consume_all(kafka, topic)]
    except (KafkaException, KeyError):
        return []  # it is not there yet


def states(system: CopycatUp, name: str) -> list[str]:
    reply = httpx2.get(f"{system.url}/connectors/{name}/status", timeout=60)
    return [task["state"] for task in reply.json()["tasks"]] if reply.status_code == 200 else []


@pytest.mark.long
@pytest.mark.row("K26-69", "K26-70")
def test_rotated_logs_arrive_exactly_once_though_hosts_are_killed(
    system: CopycatUp, kafka: str, tmp_path: Path
) -> None:
    topic, logs = unique("logs"), Logs(tmp_path)
    logs.write()
    config = {
        "connector.class": "LogSource",
        "tasks.max": "2",
        "files": f"{tmp_path}/*.log*",
        "topic": topic,
        "scan.interval.ms": "100",
        "rotated.wait.ms": "200",
        "batch.max.bytes": "16384",
        "record.max.bytes": "16384",
        "bytes.per.second.max": "200000",
        "delivery.guarantee": "exactly_once",
        "key.converter": STRING,
        "value.converter": STRING,
    }
    put(system, topic, config)

    def running() -> bool:
        found = states(system, topic)
        assert "FAILED" not in found
        return found == ["RUNNING"] * 2

    struck = 0
    for _ in range(KILLS):
        before = 3 * (logs.written - LINES)
        wait_until(lambda: len(values(kafka, topic)) > before, 90, "the first of the new lines")  # noqa: B023
        logs.rotate()
        logs.write()
        system.kill("host")
        struck += len(values(kafka, topic)) < 3 * logs.written
        logs.rotate()  # while nothing runs
        logs.write()
        wait_until(running, 90, "both tasks run again")
    try:
        wait_until(lambda: len(values(kafka, topic)) >= 3 * logs.written, 120, "all lines")
    except BaseException:
        print(states(system, topic), logs.written, len(values(kafka, topic)))
        raise

    found: dict[str, list[str]] = {}
    for value in values(kafka, topic):
        found.setdefault(value.partition(" ")[0], []).append(value)
    assert found == {name: [f"{name} {number} é" for number in range(logs.written)] for name in logs.names}
    assert struck, "no kill came while lines flowed"

    # The offsets say where a user finds the place: in the files that are written to, at their ends.
    reply = httpx2.get(f"{system.url}/connectors/{topic}/offsets", timeout=60).json()["offsets"]
    assert {Path(each["partition"]["filename"]).name: each["offset"]["position"] for each in reply} == {
        name: (tmp_path / name).stat().st_size for name in logs.names
    }
    httpx2.delete(f"{system.url}/connectors/{topic}", timeout=90).raise_for_status()


@pytest.mark.long
@pytest.mark.row("K26-71")
def test_lines_of_another_form_are_kept_or_end_the_task_as_the_tolerance_says(
    system: CopycatUp, kafka: str, tmp_path: Path
) -> None:
    topic, dead = unique("access"), unique("dead")
    log = tmp_path / "access.log"
    log.write_text('10.0.0.1 "GET /" 200\nnot of this form\n10.0.0.2 "GET /x" 404\n')
    config = {
        "connector.class": "LogSource",
        "files": str(log),
        "topic": topic,
        "line.regex": r'(?<host>\S+) "(?<request>[^"]*)" (?<status>\d+)',
        "line.regex.types": "status:int32",
        "scan.interval.ms": "100",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
        "errors.deadletterqueue.topic.name": dead,
        "errors.deadletterqueue.topic.replication.factor": "1",
        "errors.deadletterqueue.context.headers.enable": "true",
    }
    put(system, topic, config)
    wait_until(lambda: states(system, topic) == ["FAILED"], 90, "the task ends")
    trace = httpx2.get(f"{system.url}/connectors/{topic}/status", timeout=60).json()["tasks"][0]["trace"]
    assert f"The record at byte 21 of {log} cannot be read: it does not match line.regex" in trace
    first: dict[str, Any] = {"host": "10.0.0.1", "request": "GET /", "status": 200}
    assert [json.loads(value) for value in values(kafka, topic)] == [first]

    put(system, topic, {**config, "errors.tolerance": "all"})
    wait_until(lambda: len(values(kafka, topic)) == 2, 90, "the line after it")
    assert json.loads(values(kafka, topic)[1]) == {"host": "10.0.0.2", "request": "GET /x", "status": 404}
    assert set(values(kafka, dead)) == {"not of this form"}
    httpx2.delete(f"{system.url}/connectors/{topic}", timeout=90).raise_for_status()
