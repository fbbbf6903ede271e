"""Every change that a REST request makes is one line of the log, with who asked for it."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from tests.contract.gateway.world import World

CONFIG = {"connector.class": "FileStreamSource", "topic": "lines"}


@pytest.fixture(autouse=True)
def at_info(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="copycat_gateway")


def lines(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    """The changes so far, each with its fields."""
    return [
        {"what": record.getMessage(), **record.__dict__["fields"]}
        for record in caplog.records
        if record.name == "copycat_gateway.changes"
    ]


async def test_creating_changing_and_deleting_a_connector_are_lines_with_its_name(
    cluster: World, caplog: pytest.LogCaptureFixture
) -> None:
    created = await cluster.rest.post("/connectors", json={"name": "orders", "config": CONFIG})
    assert created.status_code == 201, created.text
    await cluster.rest.put("/connectors/orders/config", json={**CONFIG, "file": "/x"})
    await cluster.rest.delete("/connectors/orders")

    whole = [{"what": f"connector {done}", "connector": "orders", "address": "127.0.0.1"}
             for done in ("created", "updated", "deleted")]  # fmt: skip
    assert lines(caplog) == whole


async def test_refused_requests_change_nothing_and_write_no_line(
    cluster: World, caplog: pytest.LogCaptureFixture
) -> None:
    await cluster.rest.delete("/connectors/nobody")
    await cluster.rest.put("/connectors/nobody/pause")
    await cluster.rest.post("/connectors", json={"name": "orders", "config": {}})

    assert lines(caplog) == []


async def test_states_restarts_topics_and_levels_are_lines(
    cluster: World, caplog: pytest.LogCaptureFixture
) -> None:
    cluster.config.has("orders")
    for path in ("pause", "resume", "stop", "topics/reset"):
        assert (await cluster.rest.put(f"/connectors/orders/{path}")).is_success
    level = await cluster.rest.put("/admin/loggers/copycat.probe?scope=cluster", json={"level": "OFF"})
    logging.getLogger("copycat.probe").setLevel(logging.NOTSET)

    assert level.status_code == 204
    assert [line["what"] for line in lines(caplog)] == [
        "connector paused",
        "connector resumed",
        "connector stopped",
        "active topics reset",
        "log level set",
    ]
    assert lines(caplog)[-1]["set_to"] == "OFF"


async def test_the_name_of_an_authenticated_caller_is_in_the_line_and_never_the_password(
    cluster: World, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    users = tmp_path / "users.properties"
    users.write_text("ann=secret-of-ann\n")
    extension = "org.apache.kafka.connect.rest.basic.auth.extension.BasicAuthSecurityRestExtension"
    await cluster.open_gateway(rest_extension_classes=extension, rest_basic_auth_file=str(users))
    cluster.config.has("orders")

    assert (await cluster.rest.delete("/connectors/orders", auth=("ann", "wrong"))).status_code == 401
    assert (await cluster.rest.delete("/connectors/orders", auth=("ann", "secret-of-ann"))).status_code == 204

    (line,) = lines(caplog)
    assert line == {"what": "connector deleted", "connector": "orders", "by": "ann", "address": "127.0.0.1"}
    assert "secret-of-ann" not in caplog.text


async def test_a_name_that_nobody_checked_is_not_taken_for_who_asked(
    cluster: World, caplog: pytest.LogCaptureFixture
) -> None:
    cluster.config.has("orders")

    await cluster.rest.delete("/connectors/orders", auth=("root", "x"))

    assert "by" not in lines(caplog)[0]
