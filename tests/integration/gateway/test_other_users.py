"""What other users of the machine find of a system: closed files, and no trace of its secret."""

from __future__ import annotations

import stat
from contextlib import suppress
from pathlib import Path

import grpc
import psutil
import pytest
from copycat.config.v1.config_service_pb2 import ListConnectorsRequest
from copycat.config.v1.config_service_pb2_grpc import ConfigServiceStub
from copycat_rpc.role import read_properties
from copycat_testkit.system import CopycatUp

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]


def is_open_to_others(path: Path) -> bool:
    found = path.lstat().st_mode
    return not stat.S_ISLNK(found) and bool(found & (stat.S_IRWXG | stat.S_IRWXO))


def test_data_properties_and_segments_are_for_their_owner_only(system: CopycatUp) -> None:
    kafka = system.folder / "kafka"
    kept = [system.folder, system.folder / "logs", kafka, *system.folder.glob("*.*"), *kafka.rglob("*")]

    assert any(path.name == "00000000000000000000.log" for path in kept), "there are segments"
    assert [path for path in kept if path.exists() and is_open_to_others(path)] == []


def test_the_services_answer_nobody_without_the_secret(system: CopycatUp) -> None:
    properties = read_properties(system.folder / "worker.properties")
    with (
        grpc.insecure_channel(properties["config.addresses"]) as channel,
        pytest.raises(grpc.RpcError) as caught,
    ):
        ConfigServiceStub(channel).ListConnectors(ListConnectorsRequest(), timeout=10)

    assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED
    details = caught.value.details()
    assert details
    assert properties["cluster.secret"] not in details


def test_the_secret_is_on_no_command_line_in_no_environment_and_in_no_log(system: CopycatUp) -> None:
    secret = read_properties(system.folder / "worker.properties")["cluster.secret"]
    shown = []
    for process in psutil.Process(system.pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            shown += [*process.cmdline(), *process.environ().values()]
    logs = [file.read_text("utf-8", errors="replace") for file in (system.folder / "logs").iterdir()]

    assert len(shown) > 100
    assert not any(secret in text for text in (*shown, *logs, *system.said))
