"""What cannot work is refused in one line that names the key and the fix, and nothing is left running."""

from __future__ import annotations

import socket
from pathlib import Path

import psutil
import pytest
from copycat_embedded.ports import free_ports
from copycat_testkit.commands import COPYCAT_WORKER, Commands

pytestmark = pytest.mark.long

WORKER = """bootstrap.servers=127.0.0.1:9
group.id=g
config.storage.topic=c
offset.storage.topic=o
status.storage.topic=s
key.converter=org.apache.kafka.connect.json.JsonConverter
value.converter=org.apache.kafka.connect.json.JsonConverter
"""


@pytest.fixture(autouse=True)
def no_process_is_left() -> object:
    """See that a refused start left no child behind; systems of other tests may start some meanwhile."""
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    yield
    assert [
        command for each in psutil.Process().children(recursive=True) if (command := _new(each, before))
    ] == []


def _new(process: psutil.Process, before: set[int]) -> list[str]:
    """Return the command line of a process that is neither of these nor below one; empty if it ended."""
    try:
        known = {process.pid, *(above.pid for above in process.parents())} & before
        return [] if known else process.cmdline()
    except psutil.NoSuchProcess:
        return []


def test_a_taken_rest_port(commands: Commands, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code, said = commands.run("up", "--rest-port", str(port), "--data-dir", tmp_path / "data")
    assert code == 1
    assert said == (
        f"copycat: --rest-port {port} is taken by another program. Stop that one, or name another port.\n"
    )


def test_an_unreachable_broker(commands: Commands, tmp_path: Path) -> None:
    server = f"127.0.0.1:{free_ports(1)[0]}"
    code, said = commands.run(
        "up", "--rest-port", "0", "--data-dir", tmp_path / "data", "--bootstrap-servers", server
    )
    assert code == 1
    assert len(said.splitlines()) == 1
    assert f"bootstrap.servers={server}" in said
    assert "Start Kafka" in said


def test_a_data_dir_in_use(commands: Commands, tmp_path: Path) -> None:
    first = commands.start("up", "--rest-port", "0", "--data-dir", tmp_path / "data")
    first.wait_ready()
    code, said = commands.run("up", "--rest-port", "0", "--data-dir", tmp_path / "data")
    assert code == 1
    assert f"is in use by another copycat (process {first.process.pid})" in said
    assert first.end() == 0


def test_a_role_that_refuses_its_settings(commands: Commands, tmp_path: Path) -> None:
    code, said = commands.run(
        "up",
        "--rest-port",
        "0",
        "--data-dir",
        tmp_path / "data",
        "--set",
        "services.in.one.process=false",
        "--set",
        "offset.fails=offset.x must be a number",
    )
    assert code == 1
    assert "copycat: offset did not start (code 1): copycat offset: offset.x must be a number (log: " in said
    assert "Traceback" not in said


@pytest.mark.parametrize("arguments", [("--executors", "none"), ("--set", "no-value"), ("--nonsense",)])
def test_unknown_options_are_usage_errors(commands: Commands, arguments: tuple[str, ...]) -> None:
    code, said = commands.run("up", *arguments)
    assert code == 2
    assert "Error:" in said


@pytest.mark.parametrize("key", ["group.id", "status.storage.topic", "value.converter"])
@pytest.mark.row("K26-79")
def test_a_worker_without_a_required_key(commands: Commands, tmp_path: Path, key: str) -> None:
    file = tmp_path / "worker.properties"
    file.write_text("".join(line for line in WORKER.splitlines(keepends=True) if not line.startswith(key)))
    code, said = commands.run(file, program=COPYCAT_WORKER)
    assert code == 1
    assert said == f'copycat: Missing required configuration "{key}" which has no default value.\n'


def test_a_standalone_worker_without_a_place_for_offsets(commands: Commands, tmp_path: Path) -> None:
    file = tmp_path / "worker.properties"
    file.write_text(WORKER)
    code, said = commands.run("standalone", file)
    assert code == 1
    assert 'Missing required configuration "offset.storage.file.filename" which has no default value' in said


def test_a_file_that_is_not_there(commands: Commands) -> None:
    code, said = commands.run("missing.properties")
    assert code == 2
    assert "'missing.properties' does not exist" in said
