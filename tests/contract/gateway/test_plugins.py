"""/connector-plugins: golden answers of list, config, validate.

The types of connectors: asked of workers, never waited for twice.
"""

from __future__ import annotations

import asyncio

import pytest
from copycat_connect.errors import ConfigError
from copycat_connect.plugin import UnloadablePlugin
from copycat_connect.plugin.errors import UnloadablePluginError
from copycat_gateway.catalogue import SOURCE, Catalogue
from copycat_gateway.clients import open_services
from copycat_rpc.services import Addresses

from tests.contract.gateway.fake_executor import SINK_CLASS, SOURCE_CLASS, FakeExecutor
from tests.contract.gateway.world import World

TOPIC = (
    b'{"name":"topic","type":"STRING","required":true,"default_value":null,"importance":"HIGH",'
    b'"documentation":"Where to.","group":null,"width":"NONE","display_name":"topic","dependents":[],'
    b'"order_in_group":-1}'
)
TASKS = (
    b'{"name":"tasks.max","type":"INT","required":false,"default_value":"1","importance":"HIGH",'
    b'"documentation":"How many.","group":"Common","width":"SHORT","display_name":"Tasks max",'
    b'"dependents":["topic"],"order_in_group":3}'
)
CONNECTORS = (
    f'{{"class":"{SINK_CLASS}","type":"sink","version":"1.0"}},{{"class":"{SOURCE_CLASS}","type":"source"}}'
)


async def test_connectors_are_listed_and_versions_only_where_known(cluster: World) -> None:
    for query in ("", "?connectorsOnly=true"):
        reply = await cluster.rest.get(f"/connector-plugins{query}")
        assert reply.content == f"[{CONNECTORS}]".encode()


async def test_all_plugins_are_listed_when_asked_for(cluster: World) -> None:
    reply = await cluster.rest.get("/connector-plugins?connectorsOnly=false")

    assert [plugin["type"] for plugin in reply.json()] == ["sink", "source", "transformation"]


async def test_the_config_keys_of_a_plugin_are_definitions(cluster: World) -> None:
    reply = await cluster.rest.get("/connector-plugins/FileStreamSource/config")

    assert reply.content == b"[" + TOPIC + b"," + TASKS + b"]"


async def test_the_config_of_an_unknown_plugin_is_not_found(cluster: World) -> None:
    reply = await cluster.rest.get("/connector-plugins/no.Such%24Thing/config")

    assert reply.content == b'{"error_code":404,"message":"Unknown plugin no.Such$Thing."}'


@pytest.mark.parametrize(
    ("plugin", "version", "status", "message"),
    [
        ("FileStreamSource", "1.0", 200, None),
        ("FileStreamSource", "%5B1.0,2.0)", 200, None),
        ("FileStreamSource", "latest", 200, None),
        (
            "FileStreamSource",
            "2.0",
            400,
            "Plugin FileStreamSource not found that matches the version range [2.0,2.0], available versions:"
            " [1.0]",
        ),
        ("FileStreamSource", "%5B1.0", 400, "Invalid version specification: [1.0"),
        ("Nothing", "%5B1.0", 400, "Invalid version specification: [1.0"),
        ("Nothing", "1.0", 404, "Unknown plugin Nothing."),
    ],
)
async def test_the_config_keys_of_a_version_are_shown_and_of_one_that_is_not_there_refused(
    cluster: World, plugin: str, version: str, status: int, message: str | None
) -> None:
    reply = await cluster.rest.get(f"/connector-plugins/{plugin}/config?version={version}")

    assert reply.status_code == status
    assert message is None or reply.json() == {"error_code": status, "message": message}


async def test_plugins_that_cannot_be_loaded_are_listed_with_the_reason_where_kafka_clients_never_look(
    cluster: World,
) -> None:
    reply = await cluster.rest.get("/connector-plugins/unloadable")
    listed = await cluster.rest.get("/connector-plugins?connectorsOnly=false")

    assert reply.json() == [
        {
            "package": "acme",
            "package_version": "2.1",
            "entry_point": "orders = acme.plugin",
            "reason": "ImportError: no driver",
        }
    ]
    assert "acme" not in listed.text


async def test_a_configuration_that_names_a_plugin_that_cannot_be_loaded_is_refused_with_400(
    bare: World, worker: tuple[str, FakeExecutor]
) -> None:
    broken = UnloadablePlugin("acme", "2.1", "orders = acme.plugin", "ImportError: no driver")
    worker[1].cannot_validate = UnloadablePluginError("acme.Orders", broken)
    config = {"connector.class": "acme.Orders", "topic": "t"}

    replies = [
        await bare.rest.put("/connector-plugins/acme.Orders/config/validate", json=config),
        await bare.rest.post("/connectors", json={"name": "c", "config": config}),
        await bare.rest.put("/connectors/c/config", json=config),
    ]

    for reply in replies:
        assert reply.status_code == 400
        assert (
            "acme.Orders is installed but cannot be loaded: ImportError: no driver" in reply.json()["message"]
        )


async def test_validation_lists_every_key_and_its_errors(cluster: World) -> None:
    reply = await cluster.rest.put(
        "/connector-plugins/FileStreamSource/config/validate",
        json={"connector.class": SOURCE_CLASS, "stray": 1},
    )

    assert reply.status_code == 200
    assert reply.content == (
        b'{"name":"' + SOURCE_CLASS.encode() + b'","error_count":1,"groups":["Common"],"configs":['
        b'{"definition":null,"value":{"name":"stray","value":"1","recommended_values":[],"errors":[],'
        b'"visible":true}},{"definition":' + TOPIC + b',"value":{"name":"topic","value":null,'
        b'"recommended_values":[],"errors":["Missing required configuration \\"topic\\" which has no default'
        b' value."],"visible":true}}]}'
    )


async def test_validation_takes_any_way_to_write_the_class(cluster: World) -> None:
    for plugin in ("FileStreamSource", "FileStreamSourceConnector", SOURCE_CLASS):
        reply = await cluster.rest.put(
            f"/connector-plugins/{plugin}/config/validate",
            json={"connector.class": SOURCE_CLASS, "topic": "t"},
        )
        assert (reply.status_code, reply.json()["error_count"]) == (200, 0), plugin


async def test_validation_for_another_class_is_refused(cluster: World) -> None:
    reply = await cluster.rest.put(
        "/connector-plugins/FileStreamSink/config/validate", json={"connector.class": SOURCE_CLASS}
    )

    assert (reply.status_code, reply.json()["message"]) == (
        400,
        f"Included connector type {SOURCE_CLASS} does not match request type FileStreamSink",
    )


async def test_validation_without_or_with_an_unknown_class_fails(cluster: World) -> None:
    wrapped = "org.apache.kafka.connect.runtime.rest.errors.BadRequestException: "

    missing = await cluster.rest.put("/connector-plugins/X/config/validate", json={"a": "b"})
    unknown = await cluster.rest.put("/connector-plugins/X/config/validate", json={"connector.class": "X"})

    assert (missing.status_code, missing.json()["message"]) == (
        500,
        f"{wrapped}Connector config contains no connector type",
    )
    assert unknown.status_code == 500
    assert unknown.json()["message"].startswith(
        f"{wrapped}Failed to find any class that implements Connector"
    )


async def test_a_hanging_plugin_does_not_stop_other_requests(
    bare: World, worker: tuple[str, FakeExecutor]
) -> None:
    worker[1].hangs = True
    await bare.open_gateway(rest_request_timeout_ms="700")

    hanging = asyncio.create_task(
        bare.rest.put(
            "/connector-plugins/FileStreamSource/config/validate", json={"connector.class": SOURCE_CLASS}
        )
    )
    await worker[1].entered.wait()
    listed = await bare.rest.get("/connector-plugins")
    still_hanging = not hanging.done()
    timed_out = await hanging

    assert (listed.status_code, still_hanging) == (200, True)
    assert timed_out.status_code == 500
    assert timed_out.json()["message"].startswith("Request timed out. The worker is currently validating")


async def test_a_configuration_that_cannot_even_be_validated_fails_the_request(
    bare: World, worker: tuple[str, FakeExecutor]
) -> None:
    text = "Invalid value soon for configuration linger.ms: Not a number of type LONG"
    worker[1].cannot_validate = ConfigError(text)
    config = {"connector.class": SOURCE_CLASS, "topic": "t"}

    validated = await bare.rest.put("/connector-plugins/FileStreamSource/config/validate", json=config)
    created = await bare.rest.post("/connectors", json={"name": "c", "config": config})

    assert validated.json() == {
        "error_code": 500,
        "message": f"org.apache.kafka.common.config.ConfigException: {text}",
    }
    assert created.json() == {"error_code": 500, "message": text}


async def test_a_worker_that_hangs_delays_no_read(bare: World, worker: tuple[str, FakeExecutor]) -> None:
    addresses = Addresses(*([bare.address] for _ in range(4)))
    async with open_services(addresses) as services:
        catalogue = Catalogue(services.workers, fresh=0.0)
        assert (await catalogue.types())[SOURCE_CLASS] == SOURCE
        worker[1].tells_no_plugins = True
        for _ in range(3):
            assert (await catalogue.types())[SOURCE_CLASS] == SOURCE
        await asyncio.wait_for(worker[1].entered.wait(), 60)


async def test_the_first_read_waits_for_a_worker_to_join(bare: World) -> None:
    addresses = Addresses(*([bare.address] for _ in range(4)))
    async with open_services(addresses) as services:
        reading = asyncio.create_task(Catalogue(services.workers).types())
        await bare.scheduler.asked.wait()
        await bare.add_worker()
        assert (await reading)[SOURCE_CLASS] == SOURCE


async def test_a_worker_that_joins_is_found_by_the_next_read_and_none_waits_again(bare: World) -> None:
    addresses = Addresses(*([bare.address] for _ in range(4)))
    async with open_services(addresses, patience=0.0) as services:
        catalogue = Catalogue(services.workers)
        assert await catalogue.types() == {}
        await bare.add_worker()
        assert (await catalogue.types())[SOURCE_CLASS] == SOURCE
