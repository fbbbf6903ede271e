"""One behaviour, however Copycat runs: distributed, standalone (K26-43) and embedded (K26-93)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from copycat_cli.connector_files import ConnectorFile
from copycat_cli.errors import UnknownNameError
from copycat_connect.config.properties import parse_properties
from copycat_embedded.ports import free_ports
from copycat_launcher.embedded import Copycat
from copycat_launcher.errors import ConnectorStartError
from copycat_launcher.operations import Operations, submit
from copycat_testkit.commands import Commands
from copycat_testkit.kafka import create_topic, produce, unique, wait_until
from copycat_testkit.system import CopycatUp

from tests.integration.kip26.world import SECONDS, values
from tests.integration.scenarios.rest import Rest
from tests.plain_hosts import on_plain_hosts

pytestmark = [pytest.mark.timeout(300), pytest.mark.row("K26-41", "K26-43", "K26-93")]

STRING = "org.apache.kafka.connect.storage.StringConverter"
SETTINGS = {"key.converter": STRING, "value.converter": STRING, "offset.flush.interval.ms": "300"}
START = 180.0


class OverRest(Operations):
    """A system that others started."""

    def __init__(self, url: str) -> None:
        """Keep the root of its REST interface."""
        self._url = url

    @property
    def rest_url(self) -> str:
        """The same."""
        return self._url

    @property
    def _tls(self) -> None:
        """Its interface is plain http."""

    def add_connector(self, config: Mapping[str, str]) -> None:
        """Create a connector, or change the one of this name, and wait until it has started."""
        asyncio.run(submit(self._url, ConnectorFile(Path("suite"), config["name"], dict(config))))


Mode = OverRest | Copycat


@contextmanager
def standalone(kafka: str, folder: Path) -> Iterator[Mode]:
    """One process and an offset file."""
    properties = {
        **SETTINGS,
        "bootstrap.servers": kafka,
        "listeners": f"http://127.0.0.1:{free_ports(1)[0]}",
        "offset.storage.file.filename": str(folder / "offsets"),
    }
    worker = folder / "worker.properties"
    worker.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
    commands = Commands(folder, on_plain_hosts())
    process = commands.start("standalone", worker)
    yield OverRest(process.wait_ready(START))
    assert process.end() == 0, process.said()
    commands.close()


@contextmanager
def embedded(kafka: str) -> Iterator[Mode]:
    """Threads of this very process."""
    with Copycat(unique("modes"), kafka, settings=SETTINGS) as copycat:
        yield copycat


@pytest.fixture(scope="module", params=["standalone", "embedded", "distributed"])
def mode(
    request: pytest.FixtureRequest, kafka: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Mode]:
    """A running Copycat of each kind."""
    match request.param:
        case "distributed":
            cluster: CopycatUp = request.getfixturevalue("cluster")
            yield OverRest(cluster.url)
        case "standalone":
            with standalone(kafka, tmp_path_factory.mktemp("standalone")) as running:
                yield running
        case _:
            with embedded(kafka) as running:
                yield running


@pytest.fixture
def copycat(mode: Mode) -> Iterator[Mode]:
    """The same; what a test leaves behind is removed."""
    yield mode
    for name in mode.connectors():
        mode.remove_connector(name)
    wait_until(lambda: not any(worker.tasks for worker in mode.workers()), SECONDS, "no task runs")


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    """A file with one line."""
    file = tmp_path / "in.txt"
    file.write_text("one\n")
    return file


@pytest.fixture(scope="module")
def one_file(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a connector that each kind of Copycat is given."""
    folder = tmp_path_factory.mktemp("one-file")
    (folder / "in.txt").write_text("one\ntwo\n")
    config = {**source(folder / "in.txt"), "topic": create_topic(kafka)}
    file = folder / "lines.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in config.items()))
    return file


def source(file: Path, **more: str) -> dict[str, str]:
    """A source of that file, with a topic of its own."""
    own = {"name": unique("source"), "connector.class": "FileStreamSource", "file": str(file)}
    return {**own, "topic": unique("modes"), **more}


def append(file: Path, *more: str) -> None:
    """Write lines behind the others."""
    with file.open("a") as out:
        out.writelines(f"{line}\n" for line in more)


def reach(copycat: Mode, name: str, *states: str) -> None:
    """Wait until a connector and its tasks are in these states, in their order."""

    def reached() -> bool:
        status = copycat.status(name)
        return [status.connector.state, *(task.state for task in status.tasks)] == list(states)

    wait_until(reached, SECONDS, f"{name} {states}")


def arrived(kafka: str, topic: str, *wanted: str) -> None:
    """Wait until the records of a topic are these."""
    wait_until(lambda: values(kafka, topic) == sorted(wanted), SECONDS, f"{wanted} in {topic}")


def test_lines_go_through_kafka_and_a_transformation_into_a_file(
    copycat: Mode, kafka: str, lines: Path
) -> None:
    config = source(lines)
    sink = {
        "name": unique("sink"),
        "connector.class": "FileStreamSink",
        "file": str(lines.with_name("out")),
        "topics": config["topic"],
        "transforms": "wrap",
        "transforms.wrap.type": "org.apache.kafka.connect.transforms.HoistField$Value",
        "transforms.wrap.field": "line",
    }

    copycat.add_connector(config)
    copycat.add_connector(sink)

    out = Path(sink["file"])
    wait_until(lambda: out.exists() and out.read_text() == "Struct{line=one}\n", SECONDS, "the line")
    assert {config["name"], sink["name"]} <= set(copycat.connectors())
    assert copycat.config(sink["name"]) == sink
    assert copycat.task(sink["name"], 0).config["task.class"]
    wait_until(lambda: copycat.topics(config["name"]) == {config["topic"]}, SECONDS, "the topic is tracked")


@pytest.mark.row("K26-10")
def test_one_file_runs_unchanged_however_copycat_runs(copycat: Mode, kafka: str, one_file: Path) -> None:
    config = parse_properties(one_file.read_text())
    before = values(kafka, config["topic"])

    copycat.add_connector(config)

    arrived(kafka, config["topic"], *before, "one", "two")
    assert copycat.config(config["name"]) == config


def test_a_paused_source_reads_on_when_it_is_resumed(copycat: Mode, kafka: str, lines: Path) -> None:
    config = source(lines)
    copycat.add_connector(config)
    arrived(kafka, config["topic"], "one")

    copycat.pause(config["name"])
    reach(copycat, config["name"], "PAUSED", "PAUSED")
    append(lines, "two")
    copycat.resume(config["name"])
    reach(copycat, config["name"], "RUNNING", "RUNNING")

    arrived(kafka, config["topic"], "one", "two")


def test_a_changed_configuration_reaches_the_task(copycat: Mode, kafka: str, lines: Path) -> None:
    config = source(lines)
    copycat.add_connector(config)
    arrived(kafka, config["topic"], "one")

    moved = {**config, "topic": unique("moved")}
    copycat.add_connector(moved)

    def written() -> bool:  # the first ones may still be read by the task as it was
        append(lines, unique("line"))
        return bool(values(kafka, moved["topic"]))

    wait_until(written, SECONDS, "a line in the new topic")
    everything = sorted(lines.read_text().splitlines())
    wait_until(
        lambda: values(kafka, config["topic"], moved["topic"]) == everything, SECONDS, "every line, once"
    )
    assert copycat.config(config["name"]) == moved


def test_a_failed_task_says_why_disturbs_no_other_and_is_healed_by_a_change(
    copycat: Mode, kafka: str, lines: Path
) -> None:
    topic, config = create_topic(kafka), source(lines)
    sink = {"name": unique("sink"), "connector.class": "FileStreamSink", "topics": topic}
    produce(kafka, topic, [b"record"])
    copycat.add_connector(config)

    copycat.add_connector({**sink, "file": str(lines)[1:] + "/is/no/folder"})
    reach(copycat, sink["name"], "RUNNING", "FAILED")
    append(lines, "two")
    arrived(kafka, config["topic"], "one", "two")
    out = lines.with_name("out")
    copycat.add_connector({**sink, "file": str(out)})

    wait_until(lambda: out.exists() and out.read_text() == "record\n", SECONDS, "the record")
    reach(copycat, sink["name"], "RUNNING", "RUNNING")


def test_a_removed_source_goes_on_where_it_was_when_it_is_added_again(
    copycat: Mode, kafka: str, lines: Path
) -> None:
    config = source(lines)
    copycat.add_connector(config)
    arrived(kafka, config["topic"], "one")

    copycat.remove_connector(config["name"])
    wait_until(lambda: config["name"] not in copycat.connectors(), SECONDS, "it is gone")
    append(lines, "two")
    copycat.add_connector(config)

    arrived(kafka, config["topic"], "one", "two")


def test_a_stopped_source_begins_again_where_its_offset_is_put(
    copycat: Mode, kafka: str, lines: Path
) -> None:
    config, rest = source(lines), Rest(copycat.rest_url)
    path = f"/connectors/{config['name']}"
    copycat.add_connector(config)
    arrived(kafka, config["topic"], "one")

    rest.ok("PUT", f"{path}/stop")
    reach(copycat, config["name"], "STOPPED")
    end = [{"partition": {"filename": str(lines)}, "offset": {"position": 4}}]
    assert rest.get(f"{path}/offsets") == {"offsets": end}
    begin = [{**end[0], "offset": {"position": 0}}]
    wait_until(
        lambda: rest.call("PATCH", f"{path}/offsets", {"offsets": begin}).is_success, SECONDS, "altered"
    )
    copycat.resume(config["name"])

    arrived(kafka, config["topic"], "one", "one")


def test_workers_are_listed_with_what_runs_there(copycat: Mode, lines: Path) -> None:
    config = source(lines)
    copycat.add_connector(config)
    reach(copycat, config["name"], "RUNNING", "RUNNING")

    def held() -> list[tuple[int | None, str]]:
        everything = (each for worker in copycat.workers() for each in worker.held)
        return [(each.task, each.state) for each in everything if each.connector == config["name"]]

    wait_until(lambda: sorted(held(), key=str) == [(0, "RUNNING"), (None, "RUNNING")], SECONDS, "both")


def test_what_cannot_be_is_refused_and_leaves_nothing(copycat: Mode, lines: Path) -> None:
    config = source(lines, **{"tasks.max": "none"})

    with pytest.raises(ConnectorStartError, match=r"tasks\.max"):
        copycat.add_connector(config)

    assert config["name"] not in copycat.connectors()
    with pytest.raises(UnknownNameError, match=config["name"]):
        copycat.status(config["name"])
