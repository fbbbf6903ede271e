"""The secret that copies of one user on one machine share, and who has to be given one."""

from __future__ import annotations

import asyncio
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from copycat_connect.errors import ConfigError
from copycat_launcher.member import Member, shared_secret
from copycat_launcher.worker_properties import embedded_properties, standalone_properties, up_properties

PORTS = (1, 2, 3, 4, 5)


def test_all_who_come_at_once_get_the_same_secret(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "orders"

    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: shared_secret(folder), range(32)))

    assert len(found) == 1
    assert len(found.pop()) > 32
    assert [path.name for path in folder.iterdir()] == ["cluster.secret"]
    assert stat.S_IMODE((folder / "cluster.secret").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(ConfigError, match=r"cannot be kept in .*file/orders/cluster\.secret"):
        shared_secret(tmp_path / "file" / "orders")


async def test_a_copy_that_other_machines_reach_must_be_given_a_secret(tmp_path: Path) -> None:
    member = Member("orders", "db.example", {}, tmp_path)

    with pytest.raises(ConfigError, match=r"at db\.example, and cluster\.secret is not set"):
        await member.serve({"bootstrap.servers": "127.0.0.1:1"}, asyncio.Event(), lambda _: None)


def test_each_way_to_run_has_a_secret_and_the_users_own_wins() -> None:
    mine = {"cluster.secret": "one that the user has chosen"}

    def embedded(settings: dict[str, str]) -> dict[str, str]:
        return embedded_properties(
            "orders", "a:1", settings, rest_port=1, executor="a:2", services={}, secret="of the file"
        )

    made = [up_properties("a:1", 1, PORTS, {}), standalone_properties({}, PORTS), embedded({})]
    chosen = [up_properties("a:1", 1, PORTS, mine), standalone_properties(mine, PORTS), embedded(mine)]

    assert len({each["cluster.secret"] for each in made}) == 3
    assert made[2]["cluster.secret"] == "of the file"
    assert {each["cluster.secret"] for each in chosen} == {mine["cluster.secret"]}
