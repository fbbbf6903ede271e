"""Who did what over REST: audit lines of acts and denials, and a line of the log for every change."""

from __future__ import annotations

import json
import logging
import stat
from pathlib import Path
from typing import Any

import pytest
from copycat_connect.errors import ConfigError

from tests.contract.gateway.world import CONFIG, World, guarded, world
from tests.issuer import Issuer, bearer

RULES = """
[[rule]]
role = "admin"
users = ["ann"]
connectors = ["orders"]

[[rule]]
role = "viewer"
users = ["guest"]
connectors = ["*"]
"""


def lines(file: Path) -> list[dict[str, Any]]:
    """The lines so far, without what is the same in all."""
    found = [json.loads(line) for line in file.read_text().splitlines()]
    for line in found:
        assert line.pop("time")
        assert (line.pop("logger"), line.pop("service")) == ("copycat.audit", "gateway")
        assert (line.pop("level"), line.pop("message")) == ("INFO", "request")
        assert line.pop("address") == "127.0.0.1"
    return found


async def test_an_address_that_a_header_names_is_not_believed(
    issuer: Issuer, rules: Path, tmp_path: Path
) -> None:
    file = tmp_path / "audit.log"
    names = {"x-forwarded-for": "192.0.2.7", "x-forwarded-proto": "https", "forwarded": "for=192.0.2.7"}
    async with guarded(issuer, rules=rules, access_audit_file=str(file)) as house:
        await house.rest.delete("/connectors/orders", headers={**bearer(issuer.token("guest")), **names})

    assert [line["outcome"] for line in lines(file)] == ["denied"]  # which looks at the address, too


async def test_acts_and_denials_are_lines_in_the_file_and_reads_are_not(
    issuer: Issuer, rules: Path, tmp_path: Path
) -> None:
    file = tmp_path / "audit.log"
    ann, guest = bearer(issuer.token("ann")), bearer(issuer.token("guest"))
    async with guarded(issuer, rules=rules, access_audit_file=str(file)) as house:
        rest = house.rest
        await rest.post("/connectors", headers=ann, json={"name": "orders", "config": CONFIG})
        await rest.get("/connectors/orders", headers=ann)
        await rest.get("/connectors", headers=guest)
        await rest.put("/connectors/orders/pause", headers=guest)
        await rest.delete("/connectors/orders", headers=ann)
        await rest.delete("/connectors/orders", headers=ann)
        await rest.post("/connectors", headers=ann, json={"name": "bills", "config": CONFIG})
        await rest.delete("/connectors/orders", headers=bearer("s3cret"))
        assert (await rest.request("OPTIONS", "/")).status_code == 401, "a supervisor: no line"
        await rest.get("/connectors?token=s3cret")
        await rest.get("/connectors/orders/offsets", headers=guest)

    create: dict[str, Any] = {"act": "create connector", "method": "POST", "path": "/connectors"}
    delete = {"act": "delete connector", "connector": "orders"}
    delete |= {"method": "DELETE", "path": "/connectors/orders"}
    unknown = {"outcome": "denied", "status": 401, "why": "answered with 401"}
    assert lines(file) == [
        {"outcome": "allowed", "by": "ann", **create, "connector": "orders", "status": 201},
        {
            "outcome": "denied", "by": "guest", "act": "pause connector", "connector": "orders",
            "method": "PUT", "path": "/connectors/orders/pause", "status": 403,
            "why": "The role operator is needed for connector orders, and guest does not have it",
        },
        {"outcome": "allowed", "by": "ann", **delete, "status": 204},
        {"outcome": "failed", "by": "ann", **delete, "status": 404},
        {
            "outcome": "denied", "by": "ann", **create, "connector": "bills", "status": 403,
            "why": "The role admin is needed for connector bills, and ann does not have it",
        },
        {**unknown, "method": "DELETE", "path": "/connectors/orders"},
        {**unknown, "method": "GET", "path": "/connectors"},
        {
            "outcome": "denied", "by": "guest", "connector": "orders", "method": "GET",
            "path": "/connectors/orders/offsets", "status": 403,
            "why": "The role operator is needed for connector orders, and guest does not have it",
        },
    ]  # fmt: skip
    assert "s3cret" not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


async def test_the_one_who_is_logged_in_is_told_to_the_services_for_the_history(
    issuer: Issuer, caplog: pytest.LogCaptureFixture
) -> None:
    async with guarded(issuer) as house:
        house.config.has("orders")
        with caplog.at_level(logging.INFO, logger="copycat_gateway"):
            await house.rest.delete("/connectors/orders", headers=bearer(issuer.token("ann")))

    (line,) = (record for record in caplog.records if record.name == "copycat_gateway.changes")
    assert line.__dict__["fields"] == {"connector": "orders", "by": "ann", "address": "127.0.0.1"}


async def test_without_a_file_lines_go_to_the_log_and_no_level_silences_them(
    issuer: Issuer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("copycat.audit"), "level", logging.CRITICAL)
    async with guarded(issuer) as house:
        await house.rest.put("/connectors/orders/pause", headers=bearer(issuer.token("ann")))

    (line,) = (record for record in caplog.records if record.name == "copycat.audit")
    assert line.__dict__["fields"]["outcome"] == "failed"
    assert line.__dict__["fields"]["by"] == "ann"


async def test_where_nobody_logs_in_there_is_no_audit_unless_it_has_a_file(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "audit.log"
    async with world() as made:
        made.config.has("orders")
        await made.rest.put("/connectors/orders/pause")
        assert [record for record in caplog.records if record.name == "copycat.audit"] == []
        await made.open_gateway(access_audit_file=str(file))
        await made.rest.put("/connectors/orders/pause")

    (line,) = lines(file)
    assert (line["outcome"], line["act"], "by" in line) == ("allowed", "pause connector", False)


async def test_a_file_that_cannot_be_written_ends_the_start(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"access\.audit\.file names .*let it name a file"):
        async with world(access_audit_file=str(tmp_path / "none" / "audit.log")):
            pass


FILE_SOURCE = {"connector.class": "FileStreamSource", "topic": "lines"}


@pytest.fixture
def at_info(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="copycat_gateway")


def change_lines(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    """The changes so far, each with its fields."""
    return [
        {"what": record.getMessage(), **record.__dict__["fields"]}
        for record in caplog.records
        if record.name == "copycat_gateway.changes"
    ]


@pytest.mark.usefixtures("at_info")
async def test_creating_changing_and_deleting_a_connector_are_lines_with_its_name(
    cluster: World, caplog: pytest.LogCaptureFixture
) -> None:
    created = await cluster.rest.post("/connectors", json={"name": "orders", "config": FILE_SOURCE})
    assert created.status_code == 201, created.text
    await cluster.rest.put("/connectors/orders/config", json={**FILE_SOURCE, "file": "/x"})
    await cluster.rest.delete("/connectors/orders")

    whole = [{"what": f"connector {done}", "connector": "orders", "address": "127.0.0.1"}
             for done in ("created", "updated", "deleted")]  # fmt: skip
    assert change_lines(caplog) == whole


@pytest.mark.usefixtures("at_info")
async def test_refused_requests_change_nothing_and_write_no_line(
    cluster: World, caplog: pytest.LogCaptureFixture
) -> None:
    await cluster.rest.delete("/connectors/nobody")
    await cluster.rest.put("/connectors/nobody/pause")
    await cluster.rest.post("/connectors", json={"name": "orders", "config": {}})

    assert change_lines(caplog) == []


@pytest.mark.usefixtures("at_info")
async def test_states_restarts_topics_and_levels_are_lines(
    cluster: World, caplog: pytest.LogCaptureFixture
) -> None:
    cluster.config.has("orders")
    for path in ("pause", "resume", "stop", "topics/reset"):
        assert (await cluster.rest.put(f"/connectors/orders/{path}")).is_success
    level = await cluster.rest.put("/admin/loggers/copycat.probe?scope=cluster", json={"level": "OFF"})
    logging.getLogger("copycat.probe").setLevel(logging.NOTSET)

    assert level.status_code == 204
    assert [line["what"] for line in change_lines(caplog)] == [
        "connector paused",
        "connector resumed",
        "connector stopped",
        "active topics reset",
        "log level set",
    ]
    assert change_lines(caplog)[-1]["set_to"] == "OFF"


@pytest.mark.usefixtures("at_info")
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

    (line,) = change_lines(caplog)
    assert line == {"what": "connector deleted", "connector": "orders", "by": "ann", "address": "127.0.0.1"}
    assert "secret-of-ann" not in caplog.text


@pytest.mark.usefixtures("at_info")
async def test_a_name_that_nobody_checked_is_not_taken_for_who_asked(
    cluster: World, caplog: pytest.LogCaptureFixture
) -> None:
    cluster.config.has("orders")

    await cluster.rest.delete("/connectors/orders", auth=("root", "x"))

    assert "by" not in change_lines(caplog)[0]
