"""REST extensions from their start to their end: what stops a start, what they may ask, when they close."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest
from copycat_connect.errors import ConfigError, ConnectError
from copycat_connect.plugin import ClusterState, InstanceHealth, RestAnswer, RestExtensionContext
from copycat_connect.plugin.errors import NoSuchConnectorError

from tests.contract.gateway.guests import Guest, announce, install
from tests.contract.gateway.world import World, running

R = TypeVar("R")
CLASSES = {"rest_extension_classes": "org.example.First"}
KEY = r"rest\.extension\.classes"


@pytest.fixture
def first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Guest:
    """Install `org.example.First`."""
    guest = Guest()
    install(tmp_path, monkeypatch, First=guest)
    return guest


async def refused(world: World, **properties: str) -> str:
    """Return why a gateway does not start."""
    with pytest.raises(ConfigError, match=KEY) as error:
        await world.open_gateway(**{**CLASSES, **properties})
    return error.value.message


async def test_an_unknown_class_is_told_with_those_that_are_known(bare: World, first: Guest) -> None:
    text = await refused(bare, rest_extension_classes="org.example.Nobody")

    assert "org.example.Nobody" in text
    assert "org.example.First" in text
    assert "org.apache.kafka.connect.rest.basic.auth.extension.BasicAuthSecurityRestExtension" in text


async def test_a_plugin_that_does_not_load_here_keeps_no_extension_from_working(
    bare: World, first: Guest, tmp_path: Path
) -> None:
    announce(tmp_path, "heavy", "no_such_module_here")
    announce(tmp_path, "leaving", "module_that_exits")
    (tmp_path / "module_that_exits.py").write_text("raise SystemExit(1)")

    await bare.open_gateway(**CLASSES)
    text = await refused(bare, rest_extension_classes="org.example.Nobody")

    assert "no_such_module_here of heavy (ModuleNotFoundError: No module named" in text
    assert "module_that_exits of leaving (SystemExit: 1)" in text


async def test_a_plugin_that_hangs_when_imported_keeps_no_extension_from_working(
    bare: World, first: Guest, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    announce(tmp_path, "hanging", "module_that_hangs")
    (tmp_path / "module_that_hangs.py").write_text("import threading; threading.Event().wait()")

    await bare.open_gateway(**CLASSES, rest_request_timeout_ms="3000")

    assert "= module_that_hangs did not load within 3 s and is left out" in caplog.text


async def test_a_plugin_of_another_kind_is_no_extension(bare: World, first: Guest) -> None:
    assert "StringConverter, which is no" in await refused(bare, rest_extension_classes="StringConverter")


@pytest.mark.parametrize(
    "raised", [ConfigError("my.key is odd: make it even"), ValueError("odd"), SystemExit(1)], ids=repr
)
@pytest.mark.parametrize("stage", ["configures", "registers"])
async def test_one_that_fails_stops_the_start_and_all_are_closed(
    bare: World, first: Guest, stage: str, raised: BaseException
) -> None:
    def fail(given: object) -> None:
        raise raised

    setattr(first, stage, fail)
    text = await refused(bare)

    assert "org.example.First" in text
    if not isinstance(raised, SystemExit):
        assert str(raised) in text
    assert first.closed


async def test_one_that_hangs_stops_the_start(bare: World, first: Guest) -> None:
    let_go = threading.Event()

    def hang(given: object) -> None:
        let_go.wait(60)

    first.registers = hang
    text = await refused(bare, rest_request_timeout_ms="3000")  # the plugins load within that, too
    let_go.set()

    assert "org.example.First" in text
    assert "did not start within 3 s" in text


async def test_what_is_made_must_be_an_extension(
    bare: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, First=object())

    assert "makes a object, which is no RestExtension" in await refused(bare)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"),
        ("GET", "/connectors"),
        ("GET", "/connectors/special"),
        ("GET", "/connectors/{name}/status"),
        ("GET", "/openapi"),
        ("PUT", "/admin/loggers/{name}"),
        ("get", "/guests"),
        ("GET", "guests"),
        ("GET", "/guests//x"),
    ],
)
async def test_a_resource_takes_no_path_of_the_interface(
    bare: World, first: Guest, method: str, path: str
) -> None:
    first.registers = lambda context: context.add_resource(method, path, lambda _: RestAnswer(200))

    assert "org.example.First" in await refused(bare)


async def test_two_resources_cannot_have_one_path(bare: World, first: Guest) -> None:
    def register(context: RestExtensionContext) -> None:
        context.add_resource("GET", "/guests/{name}", lambda _: RestAnswer(200))
        context.add_resource("POST", "/guests/me", lambda _: RestAnswer(200))
        context.add_resource("GET", "/guests/me", lambda _: RestAnswer(200))

    first.registers = register

    assert "GET /guests/me is answered already, by /guests/{name}" in await refused(bare)


async def test_an_extension_is_given_all_properties_and_is_closed_at_the_end(
    bare: World, first: Guest
) -> None:
    given: dict[str, str] = {}

    def keep(configs: Mapping[str, str]) -> None:
        given.update(configs)

    first.configures = keep
    settings = {"listeners": "http://127.0.0.1:0", "rest.extension.classes": "First", "mine": "1"}
    addresses = {f"{role}.addresses": bare.address for role in ("config", "offset", "status", "scheduler")}
    async with running({**settings, **addresses}):
        assert given == {**settings, **addresses}
        assert not first.closed

    assert first.closed


async def test_one_that_fails_to_close_does_not_keep_the_gateway(bare: World, first: Guest) -> None:
    def fail() -> None:
        raise SystemExit(1)

    first.close = fail  # type: ignore[method-assign] # what an author may get wrong
    async with running(
        {
            "listeners": "http://127.0.0.1:0",
            "rest.extension.classes": "First",
            **{f"{role}.addresses": bare.address for role in ("config", "offset", "status", "scheduler")},
        }
    ):
        pass


async def state_of(world: World, guest: Guest, **properties: str) -> ClusterState:
    """Return what an extension may ask about the cluster."""
    contexts: list[RestExtensionContext] = []
    guest.registers = contexts.append
    await world.open_gateway(**CLASSES, **properties)
    return contexts[0].cluster_state


async def asked(call: Callable[[], R]) -> R:
    """Ask as extensions do: not from the event loop."""
    return await asyncio.to_thread(call)


async def test_the_cluster_state_tells_what_rest_tells(cluster: World, first: Guest) -> None:
    cluster.config.has("lines", {"file": "${file:/secrets:name}"})
    cluster.status.says("lines", "RUNNING", "w:2")
    cluster.status.says("lines", "FAILED", "w:1", task=0, trace="boom")
    cluster.scheduler.cluster_id = "cluster-1"
    state = await state_of(cluster, first)

    health = await asked(lambda: state.connector_health("lines"))

    assert await asked(state.connectors) == ("lines",)
    assert await asked(lambda: state.connector_config("lines")) == {
        "connector.class": "FileStreamSource",
        "name": "lines",
        "file": "${file:/secrets:name}",
    }
    assert (await asked(state.cluster_details)).kafka_cluster_id == "cluster-1"
    assert (health.name, health.type) == ("lines", "source")
    assert health.connector == InstanceHealth("RUNNING", "w:2")
    assert health.tasks == {0: InstanceHealth("FAILED", "w:1", "boom")}


async def test_a_connector_that_is_not_there_has_no_state(cluster: World, first: Guest) -> None:
    state = await state_of(cluster, first)

    for ask in (state.connector_config, state.connector_health):
        with pytest.raises(NoSuchConnectorError, match="Connector nobody not found"):
            await asked(partial(ask, "nobody"))


async def test_the_cluster_may_be_asked_while_extensions_register(cluster: World, first: Guest) -> None:
    names: list[str] = []
    cluster.config.has("lines")
    first.registers = lambda context: names.extend(context.cluster_state.connectors())

    await cluster.open_gateway(**CLASSES)

    assert names == ["lines"]


async def test_a_cluster_that_does_not_answer_is_waited_for_no_longer_than_a_rebalance(
    cluster: World, first: Guest
) -> None:
    state = await state_of(cluster, first, rebalance_timeout_ms="300")
    await cluster.services.stop(0)

    with pytest.raises(ConnectError, match="Failed to retrieve the connectors"):
        await asked(state.connectors)
