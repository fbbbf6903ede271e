"""When an instance claims the log, and when it lets go."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from copycat_connect.errors import NotWriterError, UnavailableError
from copycat_eventlog.electorate import Electorate
from copycat_eventlog.identity import instance_name
from copycat_eventlog.leadership import Leadership
from copycat_testkit.eventually import eventually

ME, OTHER = "me", "other"


class Instance:
    """A candidate that answers as the test says and counts."""

    def __init__(self, *members: str, owner: str | None = None) -> None:
        self.answer: Electorate | None = Electorate(frozenset(members), owner)
        self.asked = self.claims = self.releases = 0

    async def electorate(self) -> Electorate:
        self.asked += 1
        if self.answer is None:
            message = "the brokers are away"
            raise UnavailableError(message)
        return self.answer

    async def claim(self) -> None:
        self.claims += 1

    def release(self) -> None:
        self.releases += 1


@asynccontextmanager
async def running(instance: Instance) -> AsyncIterator[Leadership]:
    leadership = Leadership(instance, ME, "connect-configs")
    task = asyncio.create_task(leadership.run())
    await eventually(lambda: instance.asked > 0)
    try:
        yield leadership
    finally:
        task.cancel()


async def test_who_is_alone_need_not_wait_for_the_election() -> None:
    async with running(Instance(ME)) as leadership:
        await leadership.lead(5)
        assert leadership.leads


async def test_who_has_not_joined_does_not_claim() -> None:
    instance = Instance()
    async with running(instance) as leadership:
        await eventually(lambda: instance.asked > 2)
        assert instance.claims == 0
        instance.answer = Electorate(frozenset({ME}), None)
        await leadership.lead(5)


async def test_who_is_not_alone_waits_for_the_election() -> None:
    instance = Instance(ME, OTHER)
    async with running(instance) as leadership:
        with pytest.raises(NotWriterError, match="the election is not over"):
            await leadership.lead(0.05)
        assert instance.claims == 0
        instance.answer = Electorate(frozenset({ME, OTHER}), ME)
        leadership.elect(won=True)
        await leadership.lead(5)


async def test_the_dead_are_not_waited_for() -> None:
    machine = ".".join(instance_name("log").split(".")[:2])
    async with running(
        Instance(ME, f"{machine}.4194305.0123abcd")
    ) as leadership:  # beyond Linux's last process
        await leadership.lead(5)


async def test_a_claim_needs_the_word_of_the_coordinator() -> None:
    instance = Instance(ME, OTHER, owner=OTHER)
    async with running(instance) as leadership:
        leadership.elect(won=True)  # as a zombie believes that wakes up
        with pytest.raises(NotWriterError):
            await leadership.lead(0.05)
        assert instance.claims == 0


async def test_who_was_not_elected_refuses_at_once() -> None:
    async with running(Instance(ME, OTHER)) as leadership:
        leadership.elect(won=False)
        with pytest.raises(NotWriterError, match="Another instance owns the log"):
            await leadership.lead(60)


async def test_who_loses_an_election_lets_go() -> None:
    instance = Instance(ME)
    async with running(instance) as leadership:
        await leadership.lead(5)
        leadership.elect(won=False)
        await eventually(lambda: not leadership.leads)
        assert instance.releases == 1


async def test_who_is_elected_again_goes_on() -> None:
    instance = Instance(ME)
    async with running(instance) as leadership:
        await leadership.lead(5)
        leadership.elect(won=True)
        await asyncio.wait([asyncio.create_task(leadership.lead(5))])
        assert (instance.claims, instance.releases) == (1, 0)


async def test_a_lost_producer_is_replaced() -> None:
    instance = Instance(ME, owner=ME)
    async with running(instance) as leadership:
        await leadership.lead(5)
        leadership.elect(won=True)
        leadership.lost()
        assert not leadership.leads
        await leadership.lead(5)
        assert instance.claims == 2


async def test_what_hinders_a_claim_is_told() -> None:
    instance = Instance(ME)
    instance.answer = None
    async with running(instance) as leadership:
        with pytest.raises(NotWriterError, match="the brokers are away"):
            await leadership.lead(0.05)


async def test_who_stops_leads_no_more() -> None:
    async with running(Instance(ME)) as leadership:
        await leadership.lead(5)
        leadership.close()
        assert not leadership.leads
        with pytest.raises(UnavailableError):
            await leadership.lead(5)


async def test_leading_and_leading_no_more_are_lines_that_name_the_topic(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, logger="copycat_eventlog")
    async with running(Instance(ME)) as leadership:
        await leadership.lead(60)
        leadership.close()

    lines = [(each.getMessage(), each.__dict__["fields"]) for each in caplog.records]
    assert lines == [
        ("this instance leads now", {"topic": "connect-configs"}),
        ("this instance leads no more", {"topic": "connect-configs", "why": "it stops"}),
    ]
