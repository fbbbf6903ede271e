"""Author code asked by the gateway: listings, validation, offsets; and author code that misbehaves."""

from __future__ import annotations

import asyncio

import pytest
from copycat.executor.v1 import executor_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_connect.errors import OffsetsUnmodifiableError
from copycat_executor.children import child_process
from copycat_executor.children.template import Template
from copycat_rpc.errors import RemoteError
from copycat_rpc.messages import config_to_proto

from tests.contract.executor.world import SINK, SOURCE, World, processes, validate, world

pytestmark = pytest.mark.asyncio(loop_scope="module")

ENV_PROVIDER = {
    "config.providers": "env",
    "config.providers.env.class": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
}


async def test_plugins_are_listed_with_their_aliases(template: Template) -> None:
    async with world(template=template) as it:
        found = await it.gateway.ListPlugins(pb.ListPluginsRequest())
        probes = [plugin for plugin in found.plugins if plugin.class_name.startswith("probe.")]
        assert [(plugin.type, plugin.version) for plugin in probes] == [("sink", ""), ("source", "1.2")]
        assert not probes[0].HasField("version")
        assert "ProbeSource" in probes[1].aliases


async def test_the_keys_of_a_plugin_come_before_the_frameworks(template: Template) -> None:
    async with world(template=template) as it:
        found = await it.gateway.GetPluginConfig(pb.GetPluginConfigRequest(plugin="ProbeSource"))
        assert [key.name for key in found.keys[:2]] == ["tasks", "secret"]
        assert "connector.class" in [key.name for key in found.keys]


async def test_an_unknown_plugin_is_not_found(template: Template) -> None:
    async with world(template=template) as it:
        with pytest.raises(RemoteError) as refused:
            await it.gateway.GetPluginConfig(pb.GetPluginConfigRequest(plugin="Nope"))
        assert (refused.value.remote_code.name, refused.value.message) == (
            "plugin.unknown",
            "Unknown plugin Nope.",
        )


async def test_a_rest_extension_is_nothing_a_connector_may_name(template: Template) -> None:
    guard = "org.apache.kafka.connect.rest.basic.auth.extension.BasicAuthSecurityRestExtension"
    async with world(template=template) as it:
        found = await it.gateway.ListPlugins(pb.ListPluginsRequest())
        with pytest.raises(RemoteError) as refused:
            await it.gateway.GetPluginConfig(pb.GetPluginConfigRequest(plugin=guard))
    assert "rest_extension" not in {plugin.type for plugin in found.plugins}
    assert (refused.value.remote_code.http, refused.value.message) == (
        400,
        f"Invalid plugin class {guard}. Valid types are sink, source, converter, header_converter,"
        " transformation, predicate.",
    )


async def test_a_good_configuration_has_no_errors(template: Template) -> None:
    async with world(template=template) as it:
        found = await validate(it, SOURCE)
        assert (found.name, found.type, found.error_count) == ("ProbeSource", "source", 0)
        assert "Common" in found.groups


async def test_a_transformation_asks_the_query_engine_while_it_is_validated(template: Template) -> None:
    step = {
        "transforms": "q",
        "transforms.q.type": "SparkSql",
        "transforms.q.value.schema": "STRING",
    }
    async with world(template=template) as it:
        good = await validate(it, {**SOURCE, **step, "transforms.q.sql": "good"})
        bad = await validate(it, {**SOURCE, **step, "transforms.q.sql": "refuse because"})
        told = {info.value.name: list(info.value.errors) for info in bad.configs if info.value.errors}
        assert (good.error_count, told) == (0, {"transforms.q.sql": ["because"]})


async def test_a_bad_configuration_is_answered_key_by_key(template: Template) -> None:
    async with world(template=template) as it:
        found = await validate(it, {**SOURCE, "tasks.max": "0"})
        errors = {each.value.name: list(each.value.errors) for each in found.configs if each.value.errors}
        assert errors == {
            "tasks.max": ["Invalid value 0 for configuration tasks.max: Value must be at least 1"]
        }


async def test_an_unknown_connector_class_is_refused_with_kafkas_text(template: Template) -> None:
    async with world(template=template) as it:
        with pytest.raises(RemoteError, match="Failed to find any class that implements Connector"):
            await validate(it, {"connector.class": "Nope"})


async def test_no_answer_shows_what_a_placeholder_stands_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROBE_SECRET", "correct horse")
    async with world(properties=ENV_PROVIDER) as it:
        found = await validate(
            it, {**SOURCE, "tasks.max": "${env:PROBE_SECRET}", "other": "${env:PROBE_SECRET}"}
        )
        assert "correct horse" not in str(found)
        assert found.error_count > 0


async def test_a_failing_validation_says_what_the_author_said(template: Template) -> None:
    async with world(template=template) as it:
        with pytest.raises(RemoteError, match="the author says no"):
            await validate(it, {**SOURCE, "on.validate": "raise"})


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("sys.exit", "Code of a plugin raised SystemExit: 3"),
        ("cancel", "Code of a plugin raised CancelledError"),
        ("panic", r"Code of a plugin raised PanicException: index out of bounds \\udc80"),
        ("unreadable", r"\(its text cannot be read: SystemExit\)"),
        ("raise 100 MB", "x{1000}"),
    ],
)
async def test_whatever_validation_raises_is_answered_in_words(
    what: str, says: str, template: Template
) -> None:
    async with world(plugin_call=60.0, template=template) as it:
        with pytest.raises(RemoteError, match=says):
            await validate(it, {**SOURCE, "on.validate": what}, timeout=60)
        assert (await validate(it, SOURCE)).error_count == 0


async def test_a_hanging_validation_names_its_stage_and_holds_up_nobody(template: Template) -> None:
    async with world(plugin_call=1.0, template=template) as it:
        hanging = asyncio.create_task(validate(it, {**SOURCE, "on.validate": "hang"}))
        found = await validate(it, SOURCE)
        assert found.error_count == 0
        with pytest.raises(RemoteError) as late:
            await hanging
        assert late.value.remote_code.name == "plugin.hangs"
        assert late.value.fields["stage"] == "performing multi-property validation for the connector"
        assert late.value.message.startswith("Request timed out. The worker is currently performing multi-")


async def test_a_hanging_validation_is_answered_before_its_caller_gives_up(template: Template) -> None:
    async with world(plugin_call=60.0, template=template) as it:
        with pytest.raises(RemoteError) as late:
            await validate(it, {**SOURCE, "on.validate": "hang"}, timeout=2)
        assert late.value.remote_code.name == "plugin.hangs"
        assert late.value.fields["stage"] == "performing multi-property validation for the connector"


async def test_a_validation_that_ends_the_process_is_answered_and_others_go_on(template: Template) -> None:
    async with world(plugin_call=60.0, template=template) as it:
        with pytest.raises(RemoteError) as crashed:
            await validate(it, {**SOURCE, "on.validate": "exit"}, timeout=60)
        assert crashed.value.remote_code.name == "plugin.crashed"
        assert (await validate(it, SOURCE)).error_count == 0


async def test_a_plugin_that_holds_the_interpreter_is_ended_with_its_process(
    monkeypatch: pytest.MonkeyPatch,
    template: Template,
) -> None:
    monkeypatch.setattr(child_process, "PING_AFTER_SECONDS", 0.2)
    monkeypatch.setattr(child_process, "PING_TIMEOUT_SECONDS", 2.0)
    async with world(plugin_call=60.0, template=template) as it:
        assert (await validate(it, SOURCE)).error_count == 0
        with pytest.raises(RemoteError) as crashed:
            await validate(it, {**SOURCE, "on.validate": "hold the interpreter"}, timeout=60)
        assert crashed.value.remote_code.name == "plugin.crashed"
        assert (await validate(it, SOURCE)).error_count == 0


async def test_a_frozen_process_is_replaced_though_nobody_calls_it(
    monkeypatch: pytest.MonkeyPatch, template: Template
) -> None:
    async with world(template=template) as it:
        it.config.put("orders", SOURCE)
        it.scheduler.assign(it.worker, "orders")
        await it.status_is("RUNNING", "orders")
        (frozen,) = processes()
        monkeypatch.setattr(child_process, "IDLE_PING_INTERVAL_SECONDS", 0.2)
        monkeypatch.setattr(child_process, "IDLE_PING_TIMEOUT_SECONDS", 2.0)
        frozen.suspend()
        await it.until(lambda: it.status.states("orders") == ["RUNNING", "RUNNING"], "it begins anew")
        assert not frozen.is_running()


@pytest.mark.row("K875-45", "K875-46", "K875-47")
@pytest.mark.parametrize("connector", [SOURCE, SINK], ids=["source", "sink"])
async def test_a_hook_is_asked_of_a_connector_that_never_started(
    connector: dict[str, str], template: Template
) -> None:
    async with world(template=template) as it:
        config = config_to_proto({"name": "orders", **connector, "on.start": "raise"})
        answer = await it.gateway.AlterOffsets(pb.AlterOffsetsRequest(config=config), timeout=60)
        assert not answer.handled, "the probe handles what other tests ask for, and not this"


@pytest.mark.row("K875-45", "K875-47")
async def test_the_source_hook_gets_partitions_and_offsets_as_maps(template: Template) -> None:
    async with world(template=template) as it:
        offsets = [
            types_pb2.SourceOffset(partition=b'{"p":1}', offset=b'{"o":2}'),
            types_pb2.SourceOffset(partition=b'{"p":2}'),
        ]
        config = config_to_proto({"name": "orders", **SOURCE})
        answer = await it.gateway.AlterOffsets(
            pb.AlterOffsetsRequest(config=config, source_offsets=offsets), timeout=10
        )
        assert answer.handled


@pytest.mark.row("K875-46", "K875-47")
async def test_the_sink_hook_gets_positions_with_none_for_a_reset(template: Template) -> None:
    async with world(template=template) as it:
        positions = [
            types_pb2.TopicPartitionOffset(topic="in", partition=0, offset=5),
            types_pb2.TopicPartitionOffset(topic="in", partition=1, offset=-1),
        ]
        config = config_to_proto({"name": "orders", **SINK})
        answer = await it.gateway.AlterOffsets(
            pb.AlterOffsetsRequest(config=config, sink_offsets=positions), timeout=10
        )
        assert answer.handled


@pytest.mark.row("K875-47")
@pytest.mark.parametrize("connector", [SOURCE, SINK], ids=["source", "sink"])
async def test_a_hook_may_say_that_offsets_cannot_be_modified(
    connector: dict[str, str], template: Template
) -> None:
    async with world(template=template) as it:
        config = config_to_proto({"name": "orders", **connector, "on.alter": "unmodifiable"})
        with pytest.raises(RemoteError) as refused:
            await it.gateway.AlterOffsets(pb.AlterOffsetsRequest(config=config), timeout=10)
        assert refused.value.remote_code.name == OffsetsUnmodifiableError.code.name


@pytest.mark.row("K875-47")
@pytest.mark.parametrize("connector", [SOURCE, SINK], ids=["source", "sink"])
@pytest.mark.parametrize(
    ("what", "says"),
    [("raise", "the author says no"), ("sys.exit", "SystemExit: 3"), ("exit", "exit code 7")],
)
async def test_a_hook_that_refuses_or_fails_says_why(
    connector: dict[str, str], what: str, says: str, template: Template
) -> None:
    async with world(template=template) as it:
        config = config_to_proto({"name": "orders", **connector, "on.alter": what})
        with pytest.raises(RemoteError, match=says):
            await it.gateway.AlterOffsets(pb.AlterOffsetsRequest(config=config), timeout=10)


TIME = b'{"at":"2025-11-22T10:00:00.500000+00:00"}'
MOVES = [
    pb.OffsetsMove(partition=b'{"p":1}', before=b'{"o":2}', after=b'{"o":1}'),
    pb.OffsetsMove(partition=b'{"p":2}', after=b'{"o":1}'),
]


def config(connector: dict[str, str], **more: str) -> types_pb2.Config:
    """Return a configuration; underscores stand for dots."""
    return config_to_proto(
        {"name": "orders", **connector, **{key.replace("_", "."): value for key, value in more.items()}}
    )


async def explain(it: World, asked: types_pb2.Config) -> pb.ExplainOffsetsResponse:
    """Ask what `MOVES` would do."""
    request = pb.ExplainOffsetsRequest(config=asked, moves=MOVES)
    answer: pb.ExplainOffsetsResponse = await it.gateway.ExplainOffsets(request, timeout=10)
    return answer


async def find(it: World, asked: types_pb2.Config) -> pb.FindOffsetsResponse:
    """Ask for the offsets of a time."""
    known = [types_pb2.SourceOffset(partition=b'{"b":1.0,"a":2}', offset=b"{}")]
    request = pb.FindOffsetsRequest(config=asked, offsets=known, time=1_763_805_600_500)
    answer: pb.FindOffsetsResponse = await it.gateway.FindOffsets(request, timeout=10)
    return answer


async def test_a_source_says_what_moves_would_do_as_far_as_it_can_tell(template: Template) -> None:
    async with world(template=template) as it:
        answer = await explain(it, config(SOURCE))
        assert answer.known
        assert list(answer.effects) == [pb.OffsetsEffect(repeated_count=2, unit="crates"), pb.OffsetsEffect()]


async def test_a_source_finds_offsets_and_a_known_partition_keeps_its_bytes(template: Template) -> None:
    async with world(template=template) as it:
        answer = await find(it, config(SOURCE))
        assert answer.known
        assert list(answer.offsets) == [
            types_pb2.SourceOffset(
                partition=b'{"new":1}', offset=b'{"at":"2025-11-22T10:00:00.500000+00:00"}'
            ),
            types_pb2.SourceOffset(partition=b'{"b":1.0,"a":2}'),
        ]


async def test_a_connector_that_can_tell_nothing_is_no_error(template: Template) -> None:
    async with world(template=template) as it:
        for asked in (config(SINK), config(SOURCE, on_explain="nothing", on_find="nothing")):
            assert await explain(it, asked) == pb.ExplainOffsetsResponse()
            assert await find(it, asked) == pb.FindOffsetsResponse()


@pytest.mark.parametrize(
    ("behaviour", "text"),
    [("raise", "the author says no"), ("one short", "told 1 effects of 2 moves: one of each is wanted")],
)
async def test_author_code_that_fails_says_why(behaviour: str, text: str, template: Template) -> None:
    async with world(template=template) as it:
        with pytest.raises(RemoteError, match=text):
            await explain(it, config(SOURCE, on_explain=behaviour))
