"""connect_test of kafkatest: files are copied with several converters."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from copycat_embedded.ports import free_ports
from copycat_testkit.commands import Commands
from copycat_testkit.kafka import consume_all, create_topic, unique

from tests.integration.scenarios.files import LineFile
from tests.integration.scenarios.monitors import STRING
from tests.integration.scenarios.rest import Rest
from tests.plain_hosts import on_plain_hosts

pytestmark = pytest.mark.timeout(300)

JSON = "org.apache.kafka.connect.json.JsonConverter"
CONVERTERS = {
    "schemas": {"value.converter": JSON, "value.converter.schemas.enable": "true"},
    "no-schemas": {"value.converter": JSON, "value.converter.schemas.enable": "false"},
    "strings": {"value.converter": STRING},
}


@pytest.fixture
def commands(tmp_path: Path) -> Iterator[Commands]:
    """Start commands; whatever still runs is killed at the end."""
    running = Commands(tmp_path, on_plain_hosts())
    yield running
    running.close()


@pytest.mark.row("K26-43", "K26-74", "K26-78")
def test_file_source_and_sink(commands: Commands, kafka: str, tmp_path: Path) -> None:
    """Lines reach the other file once with any converter, and go on where they were after a restart.

    Both forms of the command start a connector for each file (K26-74), all on their one worker (K26-78).
    """
    topics = {kind: create_topic(kafka) for kind in CONVERTERS}
    read = LineFile(tmp_path / "in.txt")
    written = {kind: LineFile(tmp_path / f"{kind}.txt") for kind in CONVERTERS}
    worker = tmp_path / "worker.properties"
    files = [worker]
    url = f"http://127.0.0.1:{free_ports(1)[0]}"
    worker.write_text(
        f"bootstrap.servers={kafka}\nkey.converter={STRING}\nvalue.converter={STRING}\n"
        f"listeners={url}\noffset.storage.file.filename={tmp_path / 'offsets'}\n"
    )
    for kind, converters in CONVERTERS.items():
        for way, config in (("in", read.source(topics[kind])), ("out", written[kind].sink(topics[kind]))):
            files.append(tmp_path / f"{kind}-{way}.properties")
            whole = {"name": unique(f"{kind}-{way}"), **config, **converters}
            files[-1].write_text("".join(f"{key}={value}\n" for key, value in whole.items()))
    lines: list[str] = []
    for part, verb in (("first", ()), ("second", ("standalone",))):
        more = [f"{part} {number}" for number in range(10)]
        lines += more
        read.append(more)
        process = commands.start(*verb, *files)
        rest = Rest(process.wait_ready(180))
        for file in written.values():
            file.holds(*lines)
        names = rest.get("/connectors")
        assert len(names) == len(files) - 1
        assert {each for name in names for each in rest.placed(name)} == rest.workers()
        assert len(rest.workers()) == 1
        assert process.end() == 0
    first = {kind: consume_all(kafka, topic)[0].value() for kind, topic in topics.items()}
    assert first == {
        "schemas": b'{"schema":{"type":"string","optional":false},"payload":"first 0"}',
        "no-schemas": b'"first 0"',
        "strings": b"first 0",
    }
