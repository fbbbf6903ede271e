"""The log source as an agent: one worker, one folder, a broker, and the examples of the connector's page."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import copycat_plugins
import pytest
from confluent_kafka.admin import AdminClient
from copycat_embedded.ports import free_ports
from copycat_testkit.commands import Commands
from copycat_testkit.kafka import consume_all, headers_in, unique, wait_until

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
