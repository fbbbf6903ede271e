"""Leadership: when to claim the log, and when to let it go."""

from __future__ import annotations

import asyncio
from typing import Protocol

from copycat_connect.errors import CopycatError, NotWriterError, UnavailableError

from copycat_eventlog.electorate import Electorate

#: Between attempts to claim.
RETRY_SECONDS = 0.5


class Candidate(Protocol):
    """What an instance does with the leadership."""

    async def electorate(self) -> Electorate:
        """Ask the group's coordinator."""
        ...

    async def claim(self) -> None:
        """Fence all others, then fold what was written before."""
        ...

    def release(self) -> None:
        """Write no more."""
        ...


class Leadership:
    """Decides on the election's hint and the coordinator's word; the fence makes every mistake harmless (I3).

    A first claim need not wait for the election when the group has no member: there is nobody to disturb. Any
    other claim needs the coordinator's confirmation: a zombie that wakes up still believes to be elected, and
    without asking it would fence the true owner.
    """

    def __init__(self, candidate: Candidate, client_id: str) -> None:
        """Build it; `client_id` is this instance's name in the group."""
        self._candidate = candidate
        self._client_id = client_id
        self._elected: bool | None = None  # None before the first election it took part in
        self._early = False
        self._closed = False
        self._changed = asyncio.Event()
        self._decided = asyncio.Event()
        self.leads = False
        """Whether this instance may append."""

    def elect(self, won: bool) -> None:
        """Take the result of an election."""
        self._elected = won
        self._changed.set()

    def lost(self) -> None:
        """Look again: the producer is gone."""
        self._set(leads=False)
        self._changed.set()

    async def lead(self) -> None:
        """Return once this instance leads.

        Raises:
            NotWriterError: Another one was elected.
            UnavailableError: This one is stopping.
        """
        while not self.leads:
            if self._closed:
                message = "The service is stopping"
                raise UnavailableError(message)
            if self._elected is False:
                message = "Another instance owns the log"
                raise NotWriterError(message)
            self._decided.clear()
            await self._decided.wait()

    def close(self) -> None:
        """Lead no more, whatever happens."""
        self._closed = True
        self._set(leads=False)
        self._decided.set()

    async def run(self) -> None:
        """Follow the elections, for ever."""
        while True:
            self._changed.clear()
            settled = await self._look()
            try:
                async with asyncio.timeout(None if settled else RETRY_SECONDS):
                    await self._changed.wait()
            except TimeoutError:
                continue

    async def _look(self) -> bool:
        """Do what is due; return whether there is nothing left to do before the next change."""
        elected = self._elected
        if elected is False:
            self._step_down()
            return True
        try:
            if elected is None:
                return self.leads or await self._claim_early()
            if self.leads and not self._early:
                return True
            return await self._confirm()
        except CopycatError:
            return False  # the brokers are away, or somebody fenced us just now

    async def _claim_early(self) -> bool:
        electorate = await self._candidate.electorate()
        if electorate.members > 0:
            return True  # the election decides
        await self._claim()
        self._early = True
        return True

    async def _confirm(self) -> bool:
        electorate = await self._candidate.electorate()
        if electorate.owner != self._client_id:
            return False
        alone, self._early = electorate.members == 1, False
        if not (self.leads and alone):  # two may have claimed early at the same time
            await self._claim()
        return True

    async def _claim(self) -> None:
        self._set(leads=False)
        await self._candidate.claim()
        if self._elected is not False and not self._closed:
            self._set(leads=True)

    def _step_down(self) -> None:
        self._early = False
        if self.leads:
            self._candidate.release()
        self._set(leads=False)
        self._decided.set()

    def _set(self, *, leads: bool) -> None:
        self.leads = leads
        if leads:
            self._decided.set()
