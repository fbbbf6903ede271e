"""A role that is kept: what ends it, and what does not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import pytest
from copycat_connect.errors import ConfigError, CopycatError
from copycat_launcher.kept_role import KeptRole
from copycat_launcher.roles import CONFIG
from copycat_testkit.eventually import eventually


class Script:
    """A role that ends as the test says, start by start; after that it serves until told to stop."""

    def __init__(self, *ends: Exception) -> None:
        self.ends = list(ends)
        self.starts = 0
        self.drained = False

    async def serve(self, _: Mapping[str, str], stop: asyncio.Event, ready: Callable[[str], None]) -> None:
        self.starts += 1
        if self.ends and isinstance(self.ends[0], ConfigError):
            raise self.ends.pop(0)
        ready("here")
        if self.ends:
            raise self.ends.pop(0)
        await stop.wait()
        self.drained = True


async def test_a_role_that_ends_is_started_again_and_drains_when_told_to_stop() -> None:
    script = Script(CopycatError("the log went away"), RuntimeError("a bug"))
    role = KeptRole(CONFIG, script.serve, {})
    await asyncio.wait_for(role.ready(), 5)
    await eventually(lambda: script.starts == 3, 20)
    await role.stop()
    assert script.drained


async def test_a_role_that_never_served_is_not_started_again() -> None:
    script = Script(ConfigError("config.listen is wrong"))
    role = KeptRole(CONFIG, script.serve, {})
    with pytest.raises(ConfigError, match=r"config\.listen"):
        await asyncio.wait_for(role.ready(), 5)
    await role.stop()
    assert script.starts == 1
