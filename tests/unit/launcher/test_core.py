"""Where the services are, as their log says it; anybody may have written to that, too."""

from __future__ import annotations

import asyncio
import json

import pytest
from copycat_connect.errors import CopycatError, LogLostError
from copycat_eventlog.log import Record
from copycat_eventlog.memory import MemoryLog, MemoryTopic
from copycat_launcher import core
from copycat_launcher.core import WHERE, Core, addresses_in
from copycat_launcher.roles import SERVICES

ADDRESSES = {role.name: "127.0.0.1:9101" for role in SERVICES}


def test_addresses_are_read_back() -> None:
    assert addresses_in(Record(WHERE, json.dumps(ADDRESSES).encode())) == ADDRESSES


@pytest.mark.parametrize(
    "value",
    [
        *(None, b"", b"\xff", b"{", b"[]", b"7", b"[" * 100_000, b"9" * 5000, rb'"\ud800"'),
        json.dumps({**ADDRESSES, "config": 9101}).encode(),
        json.dumps({"config": "127.0.0.1:9101"}).encode(),
    ],
)
def test_what_another_program_wrote_names_no_addresses(value: bytes | None) -> None:
    assert addresses_in(Record(WHERE, value)) is None


class Gone(MemoryLog):
    """A log whose topic is deleted, so that nobody leads any more."""

    async def lost(self) -> CopycatError:
        return LogLostError("Topic 'orders-services' was deleted")


async def test_a_core_whose_topic_is_gone_ends_so_that_it_is_started_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    topic = MemoryTopic()
    await MemoryLog(topic).start(lambda _entries, _reached: None)  # another copy leads
    monkeypatch.setattr(core, "open_log", lambda _settings: Gone(topic))
    properties = {"group.id": "orders", "bootstrap.servers": "127.0.0.1:1"}

    async with asyncio.timeout(60):
        with pytest.raises(LogLostError, match="'orders-services' was deleted"):
            await Core(ADDRESSES, lambda _where: None).serve(properties, asyncio.Event(), lambda _: None)
