"""Roles by connector name: what each may do over REST, and that no route is without one."""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from copycat_access.needs import Scope
from copycat_access.roles import Role
from copycat_connect.errors import ConfigError
from copycat_gateway.access.authorisation import NEEDS
from copycat_gateway.app import ADMIN, REST

from tests.contract.gateway.world import CONFIG, SECRET, World, guarded
from tests.issuer import Issuer, bearer

RULES = """
[[rule]]
role = "viewer"
groups = ["staff"]
connectors = ["*"]

[[rule]]
role = "operator"
groups = ["staff"]
connectors = ["orders-*"]

[[rule]]
role = "admin"
users = ["ann"]
connectors = ["orders-*", "bills"]

[[rule]]
role = "admin"
groups = ["platform"]
connectors = ["*"]

[[rule]]
role = "viewer"
users = ["guest"]
connectors = ["bills"]
"""


@pytest.fixture
async def house(issuer: Issuer, rules: Path) -> AsyncIterator[World]:
    """A gateway with these rules, and three connectors."""
    async with guarded(issuer, rules=rules) as made:
        for name in ("orders-eu", "orders-us", "bills"):
            made.config.has(name)
        yield made


async def ask(
    world: World, issuer: Issuer, who: str, method: str, path: str, **more: object
) -> httpx2.Response:
    """Send a request as `name` or `name of group`."""
    name, _, group = who.partition(" of ")
    token = issuer.token(name, *([group] if group else []))
    return await world.rest.request(method, path, headers=bearer(token), **more)  # type: ignore[arg-type]


def routes() -> list[tuple[str, str]]:
    """Return method and path of every route there is."""
    handlers = [
        (method, path) for each in (*REST, *ADMIN) for path in each.paths for method in each.http_methods
    ]
    return [*handlers, ("GET", "/openapi"), ("GET", "/openapi/openapi.json")]


def test_each_route_has_its_need_and_each_need_its_route() -> None:
    assert sorted(NEEDS) == sorted(routes())


def test_whatever_changes_something_needs_more_than_a_viewer_and_is_audited() -> None:
    for (method, path), need in NEEDS.items():
        if method != "GET" and not path.endswith("/validate"):
            assert need.role >= Role.OPERATOR, path
            assert need.act, path
        else:
            assert not need.act, path


async def test_whoever_has_no_role_is_denied_on_every_route(house: World, issuer: Issuer) -> None:
    listed = sorted({path for _, path in routes()})
    for method, path in [*routes(), *(("OPTIONS", path) for path in listed if "openapi" not in path)]:
        concrete = path.replace("{name:str}", "bills").replace("{task_id:str}", "0")
        concrete = concrete.replace("{plugin:str}", "FileStreamSource").replace("{logger:str}", "root")
        body = {"name": "bills", "config": CONFIG} if method == "POST" else {}
        reply = await ask(house, issuer, "nobody", method, concrete, json=body)

        assert reply.status_code == 403, (method, path, reply.text)
        assert reply.json()["error_code"] == 403
        assert "nobody does not have it" in reply.json()["message"]


async def test_each_route_of_a_connector_is_denied_to_the_role_below(house: World, issuer: Issuer) -> None:
    below = {Role.VIEWER: "guest", Role.OPERATOR: "guest", Role.ADMIN: "eve of staff"}
    elsewhere = {Role.VIEWER: "orders-eu", Role.OPERATOR: "bills", Role.ADMIN: "orders-eu"}
    for (method, path), need in NEEDS.items():
        if need.scope is Scope.CONNECTOR:
            concrete = path.replace("{name:str}", elsewhere[need.role]).replace("{task_id:str}", "0")
            reply = await ask(house, issuer, below[need.role], method, concrete, json={})
            text = f"The role {need.role.label} is needed for connector {elsewhere[need.role]}, and "
            assert reply.status_code == 403, (method, path, reply.text)
            assert reply.json()["message"].startswith(text)


async def test_a_viewer_reads_an_operator_acts_and_an_admin_changes(house: World, issuer: Issuer) -> None:
    for who, method, path, expected in [
        ("guest", "GET", "/connectors/bills", 200),
        ("guest", "GET", "/connectors/bills/config", 200),
        ("guest", "PUT", "/connectors/bills/pause", 403),
        ("guest", "GET", "/connectors/bills/offsets", 403),
        ("guest", "GET", "/connectors/orders-eu", 403),
        ("guest", "GET", "/connectors/unknown", 403),
        ("guest", "GET", "/admin/loggers", 403),
        ("guest", "GET", "/metrics", 403),
        ("eve of staff", "PUT", "/connectors/orders-eu/pause", 202),
        ("eve of staff", "PUT", "/connectors/orders-eu/stop", 204),
        ("eve of staff", "PUT", "/connectors/bills/stop", 403),
        ("eve of staff", "DELETE", "/connectors/orders-eu", 403),
        ("eve of staff", "GET", "/admin/loggers", 200),
        ("ann", "PUT", "/admin/loggers/root?scope=worker", 403),
        ("ann", "DELETE", "/connectors/bills", 204),
        ("ann", "DELETE", "/connectors/mine", 403),
        ("boss of platform", "GET", "/metrics", 200),
        ("boss of platform", "GET", "/no/such/path", 404),
        ("boss of platform", "DELETE", "/connectors/orders-us", 204),
    ]:
        reply = await ask(house, issuer, who, method, path)
        assert reply.status_code == expected, (who, method, path, reply.text)


async def test_a_connector_is_created_by_the_admin_of_its_name_however_it_is_asked_for(
    house: World, issuer: Issuer
) -> None:
    for name, expected in (("orders-asia", 201), ("others", 403)):
        body = {"name": name, "config": CONFIG}
        assert (await ask(house, issuer, "ann", "POST", "/connectors", json=body)).status_code == expected
        put = await ask(house, issuer, "ann", "PUT", f"/connectors/{name}-2/config", json=CONFIG)
        assert put.status_code == expected
    smuggled = {"name": "others", "config": {**CONFIG, "name": "orders-x"}}
    assert (await ask(house, issuer, "ann", "POST", "/connectors", json=smuggled)).status_code == 403

    assert {"others", "others-2", "orders-x"}.isdisjoint(house.config.connectors)


async def test_no_spelling_of_a_path_leads_round_the_rules(house: World, issuer: Issuer) -> None:
    for spelling in ("%62ills/config", "bills/config/", "%62ills%2Fx/config"):
        reply = await ask(house, issuer, "eve of staff", "PUT", f"/connectors/{spelling}", json=CONFIG)
        assert reply.status_code == 403, spelling


async def test_lists_show_what_the_caller_may_see(house: World, issuer: Issuer) -> None:
    everything = ["bills", "orders-eu", "orders-us"]
    for who, seen in (("guest", ["bills"]), ("eve of staff", everything), ("ann", everything)):
        names = await ask(house, issuer, who, "GET", "/connectors")
        expanded = await ask(house, issuer, who, "GET", "/connectors?expand=info")
        assert sorted(names.json()) == sorted(expanded.json()) == seen

    worker = next(iter(house.scheduler.workers.values()))
    for name in ("bills", "orders-eu"):
        worker.held.add().instance.connector = name
    (shown,) = (await ask(house, issuer, "guest", "GET", "/workers")).json()
    assert [held["connector"] for held in shown["held"]] == ["bills"]


async def test_users_with_a_password_have_roles_too(issuer: Issuer, rules: Path, tmp_path: Path) -> None:
    users = tmp_path / "users.properties"
    users.write_text("ann=pass\nstranger=word\n")
    async with guarded(None, rules=rules, users=users) as world:
        world.config.has("bills")
        assert (await world.rest.get("/connectors", auth=("stranger", "word"))).status_code == 403
        assert (await world.rest.delete("/connectors/bills", auth=("ann", "pass"))).status_code == 204


async def test_rules_are_read_again_and_a_broken_edit_keeps_those_before(
    house: World, issuer: Issuer, rules: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def edit(text: str) -> None:
        rules.write_text(text)

    async def status() -> int:
        return (await ask(house, issuer, "new", "GET", "/connectors")).status_code

    assert await status() == 403
    edit(RULES + '[[rule]]\nrole = "viewer"\nusers = ["new"]\nconnectors = ["*"]\n')
    assert await status() == 200
    edit('[[rule]]\nrole = "owner"\n')
    assert await status() == 200
    os.unlink(rules)  # noqa: PTH108 - in a test nothing waits
    assert await status() == 200
    edit(RULES)
    assert await status() == 403

    told = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert "the rules before stay in force: rule 1 has role = 'owner'" in told[0]
    assert "it cannot be read (No such file or directory)" in told[1]


async def test_rules_without_a_way_to_log_in_end_the_start(rules: Path) -> None:
    with pytest.raises(ConfigError, match=r"nobody can log in.*access\.token\.issuer"):
        async with guarded(None, rules=rules):
            pass


async def test_a_browser_asks_what_is_allowed_without_a_role(issuer: Issuer, rules: Path) -> None:
    asking = {"Origin": "http://page", "Access-Control-Request-Method": "GET"}
    async with guarded(issuer, rules=rules, access_control_allow_origin="http://page") as world:
        preflight = await world.rest.options("/connectors", headers=asking)
        refused = await world.rest.get("/connectors", headers={"Origin": "http://page"})

    assert preflight.status_code == 204
    assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (401, "http://page")


async def test_no_answer_tells_a_secret(house: World, issuer: Issuer) -> None:
    token = issuer.token("nobody")
    reply = await house.rest.get("/connectors", headers=bearer(token))

    assert token[:20] not in reply.text
    assert SECRET not in reply.text
