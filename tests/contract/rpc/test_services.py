"""The services that all parts of a cluster call are found, and asked whether they serve."""

from __future__ import annotations

import pytest
from copycat_connect.errors import ConfigError
from copycat_embedded.ports import free_ports
from copycat_rpc.server import RpcServer
from copycat_rpc.services import Addresses, connected


def test_addresses_are_read_from_worker_properties() -> None:
    found = Addresses.of({"config.addresses": "a:1, b:2", "unrelated": "x"})

    assert found == Addresses(config=("a:1", "b:2"))
    assert found.scheduler == ("127.0.0.1:9104",)


def test_an_empty_list_of_addresses_is_refused_by_its_name() -> None:
    with pytest.raises(ConfigError, match=r"status\.addresses"):
        Addresses.of({"status.addresses": ""})


async def test_only_a_service_that_answers_serves() -> None:
    server = RpcServer("127.0.0.1:0")
    address = await server.start()
    nobody = f"127.0.0.1:{free_ports(1)[0]}"
    try:
        async with connected(Addresses(config=[address], offset=[nobody])) as services:
            assert not await services.serves("config", 60.0)
            await server.set_serving(True)
            assert await services.serves("config", 60.0)
            assert not await services.serves("offset", 0.2)
    finally:
        await server.stop(0)
