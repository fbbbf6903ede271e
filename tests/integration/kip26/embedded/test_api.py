"""Copycat inside an application: what its calls do, return and refuse."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient
from copycat_cli.errors import UnknownNameError
from copycat_connect.config.properties import parse_properties
from copycat_connect.errors import ConfigError
from copycat_launcher.embedded import Copycat
from copycat_launcher.errors import ConnectorStartError, StartError
from copycat_testkit.commands import Commands
from copycat_testkit.kafka import consume_all, create_topic, delete_topic, produce, unique, wait_until

pytestmark = pytest.mark.timeout(300)

ROOT = Path(__file__).parents[4]
SECONDS = 60.0
STRING = "org.apache.kafka.connect.storage.StringConverter"
SETTINGS = {"key.converter": STRING, "value.converter": STRING, "offset.flush.interval.ms": "500"}


@pytest.fixture(scope="module")
def copycat(kafka: str, plugin_path: None) -> Iterator[Copycat]:
    """One copy in this very process."""
    with Copycat(unique("app"), kafka, settings=SETTINGS) as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one file."""
    (tmp_path / "first.txt").write_text("one\n")
    return tmp_path


def folder_source(folder: Path, prefix: str, **more: str) -> dict[str, str]:
    config = {"connector.class": "author.FolderSourceConnector", "tasks.max": "20", **more}
    return {**config, "folder": str(folder), "topic.prefix": prefix}


def values(kafka: str, topic: str) -> list[str]:
    return [(message.value() or b"").decode() for message in consume_all(kafka, topic)]


def test_k26_88_a_source_is_added_and_its_topics_returned(copycat: Copycat, folder: Path, kafka: str) -> None:
    prefix = f"{unique('my-database')}-"
    assert copycat.add_connector(folder_source(folder, prefix, name=unique("c"))) == {f"{prefix}first"}
    assert values(kafka, f"{prefix}first") == ["one"]


def test_k26_89_topics_that_come_later_are_seen(copycat: Copycat, folder: Path) -> None:
    name, prefix = unique("c"), f"{unique('t')}-"
    assert copycat.add_connector(folder_source(folder, prefix, name=name)) == {f"{prefix}first"}
    (folder / "second.txt").write_text("two\n")
    wait_until(lambda: copycat.topics(name) == {f"{prefix}first", f"{prefix}second"}, SECONDS, "both topics")


@pytest.mark.row("K26-60", "K26-91")
def test_k26_91_source_application_and_sink_in_one_process(
    copycat: Copycat, folder: Path, kafka: str
) -> None:
    words, loud = unique("words"), create_topic(kafka)
    config = {"connector.class": "FileStreamSource", "file": str(folder / "first.txt"), "topic": words}
    (topic,) = copycat.add_connector({**config, "name": unique("in")})
    wait_until(lambda: values(kafka, topic) == ["one"], SECONDS, "the source's record")
    produce(kafka, loud, [value.upper().encode() for value in values(kafka, topic)])
    sink = {"connector.class": "org.apache.kafka.copycat.HDFSSinkConnector", "connector.tasks.max": "20"}
    where = {"hdfs.url": f"{folder.as_uri()}/export/", "format.class": "string", "flush.size": "1"}
    assert copycat.add_connector({**sink, **where, "topics": loud, "name": unique("out")}) == {loud}
    target = folder / f"export/topics/{loud}/partition=0/{loud}+0+0000000000+0000000000.txt"
    wait_until(lambda: target.exists() and target.read_text() == "ONE\n", SECONDS, "the sink's line")


def test_k26_41_what_it_says_of_a_connector_is_what_it_was_told(copycat: Copycat, folder: Path) -> None:
    name = unique("c")
    config = folder_source(folder, f"{unique('t')}-", name=name)
    copycat.add_connector(config)
    assert name in copycat.connectors()
    assert copycat.config(name) == config
    wait_until(lambda: [task.state for task in copycat.status(name).tasks] == ["RUNNING"], SECONDS, "a task")
    assert (copycat.status(name).connector.state, copycat.status(name).type) == ("RUNNING", "source")
    task = copycat.task(name, 0)
    assert task.config["files"] == "first.txt"
    assert task.status == copycat.status(name).tasks[0]
    copycat.pause(name)
    wait_until(lambda: copycat.status(name).connector.state == "PAUSED", SECONDS, "the pause")
    copycat.resume(name)
    wait_until(lambda: copycat.status(name).connector.state == "RUNNING", SECONDS, "the end of the pause")
    copycat.remove_connector(name)
    assert name not in copycat.connectors()
    with pytest.raises(UnknownNameError, match=f"Connector {name} not found"):
        copycat.config(name)


def test_k26_42_it_lists_its_worker_with_all_that_runs_there(copycat: Copycat, folder: Path) -> None:
    name = unique("c")
    copycat.add_connector(folder_source(folder, f"{unique('t')}-", name=name))

    def held() -> set[tuple[int | None, str]]:
        (worker,) = copycat.workers()
        assert worker.worker_id == copycat.place.worker_id
        assert not worker.leaving
        assert {*worker.connectors, *worker.tasks} == {*worker.held}
        return {(each.task, each.state) for each in worker.held if each.connector == name}

    wait_until(lambda: held() == {(None, "RUNNING"), (0, "RUNNING")}, SECONDS, "connector and task")


def test_a_connector_that_is_added_again_changes_nothing(copycat: Copycat, folder: Path) -> None:
    config = {"connector.class": "FileStreamSource", "file": str(folder / "first.txt"), "topic": unique("t")}
    assert copycat.add_connector(config) == copycat.add_connector(config)
    assert copycat.connectors().count(f"{copycat.app_id}-FileStreamSource") == 1
    with pytest.raises(ConfigError, match="Two connectors of class FileStreamSource have no name"):
        copycat.add_connector({**config, "topic": "another"})


def test_a_connector_that_is_refused_says_which_key_is_wrong(copycat: Copycat) -> None:
    config = {"connector.class": "FileStreamSource", "topic": "", "tasks.max": "none", "name": "wrong"}
    with pytest.raises(ConnectorStartError, match=r"(?s)connector wrong was refused.*tasks\.max"):
        copycat.add_connector(config)
    assert "wrong" not in copycat.connectors()


def test_a_task_that_fails_before_its_first_record_says_why(copycat: Copycat, folder: Path) -> None:
    config = folder_source(folder, "t-", **{"value.converter": "NoSuchConverter", "name": unique("c")})
    with pytest.raises(ConnectorStartError, match="NoSuchConverter"):
        copycat.add_connector(config)


def test_a_second_copy_in_the_process_is_refused(copycat: Copycat, kafka: str) -> None:
    with pytest.raises(StartError, match=r"Copycat\('other'\) cannot start: this process"):
        Copycat("other", kafka).start()


def test_k26_92_the_example_of_the_readme_runs_until_ctrl_c(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also: others on the machine use its Kafka, but for its internal topics."""
    monkeypatch.chdir(tmp_path)
    readme = (ROOT / "services/launcher/README.md").read_text()
    example = tmp_path / "example.py"
    example.write_text(readme.partition("```python\n")[2].partition("```")[0])
    (tmp_path / "orders.txt").write_text("one\ntwo\n")
    commands = Commands(tmp_path, {"XDG_DATA_HOME": str(tmp_path), "PYTHONUNBUFFERED": "1"})
    try:
        running = commands.start(example, program=Path(sys.executable))
        wait_until(lambda: "orders-FileStreamSource" in running.said(), 180, "the list of workers")
        copy = tmp_path / "copy.txt"
        wait_until(lambda: copy.exists() and copy.read_text() == "one\ntwo\n", SECONDS, "the copy")
        broker = parse_properties((tmp_path / "copycat/orders/kafka/server.properties").read_text())
        others = broker["listeners"].partition(",")[0].removeprefix("PLAINTEXT://")
        produce(others, create_topic(others), [b"theirs"])
        with pytest.raises(KafkaException) as refused:
            delete_topic(AdminClient({"bootstrap.servers": others}), "orders-configs")
        assert refused.value.args[0].code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
        assert running.end(signal.SIGINT) == 0, running.said()
    finally:
        commands.close()
