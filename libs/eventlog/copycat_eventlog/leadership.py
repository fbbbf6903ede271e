"""Leadership: when to claim the log, and when to let it go."""

from __future__ import annotations

import asyncio
import logging
from math import inf
from typing import Protocol

from copycat_connect.errors import CopycatError, NotWriterError, UnavailableError
from copycat_telemetry.changes import log_change

from copycat_eventlog.electorate import Electorate
from copycat_eventlog.identity import is_dead

log = logging.getLogger(__name__)

#: Between two attempts to claim.
CLAIM_RETRY_DELAY_SECONDS = 0.5
#: Between two looks whether this instance has joined the group.
JOIN_CHECK_SECONDS = 0.05


class Candidate(Protocol):
    """What an instance does with the leadership."""

    async def electorate(self) -> Electorate:
        """Ask the group's coordinator who is a member and who owns the log."""
        ...

    async def claim(self) -> None:
        """Fence all others, then fold what was written before."""
        ...

    def release(self) -> None:
        """Write nothing more: another instance is to lead."""
        ...


class Leadership:
    """Decides on the election's hint and the coordinator's word; the fence makes every mistake harmless (I3).

    A first claim need not wait for the election (three seconds on a common broker, six after a crash) when
    this instance is the only living member of the group: all who come later will see it there and wait. Any
    other claim needs the coordinator's confirmation: a zombie that wakes up still believes to be elected, and
    without asking it would fence the true owner.
    """

    def __init__(self, candidate: Candidate, client_id: str, topic: str = "") -> None:
        """Build it; `client_id` is this instance's name in the group, `topic` the log's in lines about it."""
        self._topic = topic
        self._candidate = candidate
        self._client_id = client_id
        self._elected: bool | None = None  # None before the first election it took part in
        self._led_last = False
        self._closed = False
        self._closed_by = ""
        self._trouble = "the election is not over"
        self._changed = asyncio.Event()
        self._decided = asyncio.Event()
        self.leads = False
        """Whether this instance may append."""

    @property
    def owns(self) -> bool:
        """Whether it leads, or led last or was elected, and nobody else was since."""
        return self._elected is True or (self._elected is None and self._led_last)

    def elect(self, won: bool) -> None:
        """Handle the result of an election."""
        self._elected = won
        self._changed.set()

    def lost(self) -> None:
        """Look again: the producer is gone."""
        self._set(leads=False)
        self._changed.set()

    async def lead(self, within: float) -> None:
        """Return once this instance leads.

        Raises:
            NotWriterError: Another one was elected, or this one could not claim the log in time.
            UnavailableError: This one is stopping.
        """
        try:
            async with asyncio.timeout(within):
                await self._led()
        except TimeoutError:
            raise NotWriterError(
                f"This instance could not take over its log within {within:g} s: {self._trouble}"
            ) from None

    def close(self, why: str = "it stops") -> None:
        """Lead no more, whatever happens."""
        if not self._closed:
            self._closed_by = why
        self._closed = True
        self._set(leads=False)
        self._decided.set()
        self._changed.set()

    async def run(self) -> None:
        """Follow the elections until closed."""
        while not self._closed:
            self._changed.clear()
            pause = await self._look()
            try:
                async with asyncio.timeout(pause if pause < inf else None):
                    await self._changed.wait()
            except TimeoutError:
                continue

    async def _led(self) -> None:
        while not self.leads:
            if self._closed:
                raise UnavailableError("The service is stopping")
            if self._elected is False:
                raise NotWriterError("Another instance owns the log")
            self._decided.clear()
            await self._decided.wait()

    async def _look(self) -> float:
        """Do what is due; return in how many seconds to look again, unless there is an election before."""
        if self._elected is False:
            self._step_down()
        if self._elected is False or self.leads:
            return inf
        try:
            pause = self._obstacle(await self._candidate.electorate())
            if pause == 0 and not self._closed:
                await self._claim()
        except CopycatError as error:  # the brokers are away, or somebody fenced us just now
            self._trouble = error.message
            return CLAIM_RETRY_DELAY_SECONDS
        return pause or inf

    def _obstacle(self, electorate: Electorate) -> float:
        """How long to wait before looking again; 0 when nothing stands against a claim."""
        if self._elected:
            return 0 if electorate.owner == self._client_id else CLAIM_RETRY_DELAY_SECONDS
        if self._client_id not in electorate.members:
            return JOIN_CHECK_SECONDS
        return 0 if all(map(is_dead, electorate.members - {self._client_id})) else inf

    async def _claim(self) -> None:
        await self._candidate.claim()
        if self._elected is not False and not self._closed:
            self._set(leads=True)

    def _step_down(self) -> None:
        self._candidate.release()
        self._set(leads=False)
        self._decided.set()

    def _set(self, *, leads: bool) -> None:
        if leads != self.leads:
            what = "this instance leads now" if leads else "this instance leads no more"
            why = self._closed_by if self._closed else None
            log_change(log, what, topic=self._topic, why=why)
        self.leads = leads
        if leads:
            self._led_last = True
            self._decided.set()
