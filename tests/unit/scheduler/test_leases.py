"""Leases on a clock made of numbers, and workers that are asked at their own addresses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from copycat_connect.cluster import ORPHANED_HOST_SECONDS, Instance
from copycat_eventlog.memory import MemoryLog
from copycat_rpc.reach import Reach
from copycat_scheduler.adapters.event_sourced import event_sourced
from copycat_scheduler.adapters.probing import WAITS_SECONDS, Probing
from copycat_scheduler.adapters.workers import LiveWorkers
from copycat_scheduler.domain.events import Assigned
from copycat_scheduler.domain.leases import NEWS_TRAVEL_SECONDS, NOTICE_SECONDS, Leases, WorkerSession
from copycat_testkit.simulated import simulated

A, B = Instance("a"), Instance("b", 0)


def _leases(**sessions: WorkerSession) -> Leases:
    leases = Leases(since=0.0, length=5.0)
    for session in sessions.values():
        leases = leases.beat(session)
    return leases


def _session(
    name: str, at: float = 0.0, held: Mapping[Instance, int] | None = None, leaving: bool = False
) -> WorkerSession:
    return WorkerSession(name, held or {}, leaving, at)


def test_a_worker_is_live_until_it_was_silent_for_a_lease() -> None:
    leases = _leases(w=_session("w", at=1.0))
    assert leases.expire(5.9).taking == {"w"}
    assert leases.expire(6.0).taking == set()


def test_a_leaving_worker_takes_no_work() -> None:
    assert _leases(v=_session("v"), w=_session("w", leaving=True)).taking == {"v"}


def test_a_worker_that_left_with_nothing_is_gone_at_once_and_any_other_is_not() -> None:
    leases = _leases(
        u=_session("u", leaving=True), v=_session("v", leaving=True, held={A: 1}), w=_session("w")
    )
    for name in "uvw?":
        leases = leases.left(name)
    assert set(leases.sessions) == {"v", "w"}


def test_a_worker_unheard_of_is_expected_for_one_lease_after_the_beginning() -> None:
    leases = Leases(since=10.0, length=5.0)
    assert leases.expected("w", 14.9)
    assert not leases.expected("w", 15.0)


def test_a_lost_worker_is_expected_for_the_delay() -> None:
    leases = Leases(since=0.0, length=5.0, delay=30.0).beat(_session("w", at=100.0)).expire(105.0)
    assert leases.expected("w", 134.9)
    assert not leases.expected("w", 135.0)
    assert not leases.expire(135.0).expected("w", 135.0)


def test_without_a_delay_a_lost_worker_is_not_expected() -> None:
    leases = _leases(w=_session("w", at=100.0)).expire(105.0)
    assert not leases.there("w", 105.0)


def test_the_next_deadline_is_the_first_lease_to_end_or_wait_to_be_over() -> None:
    leases = Leases(since=0.0, length=5.0).beat(_session("w", at=3.0))
    assert leases.next_deadline({"w"}, 3.0) == 8.0
    assert leases.next_deadline({"w", "unheard"}, 3.0) == 5.0
    assert Leases(since=0.0, length=5.0).next_deadline((), 3.0) is None


def test_renewed_leases_count_from_now() -> None:
    assert _leases(w=_session("w")).renew(100.0).expire(104.0).taking == {"w"}


def test_what_a_worker_lists_or_was_given_is_held_by_it() -> None:
    leases = _leases(v=_session("v", held={A: 1}), w=_session("w"))
    assert leases.holders([Assigned(B, "w", 2)], {}, 0.0) == {A: {"v"}, B: {"w"}}


def test_what_was_given_to_a_worker_that_is_gone_is_not_held() -> None:
    assert _leases().holders([Assigned(B, "w", 2)], {}, 9.0) == {}


def test_what_was_taken_is_held_until_a_later_beat_does_not_list_it() -> None:
    leases = _leases(w=_session("w", held={A: 1})).taken([Assigned(A, "w", 1)], now=1.0)
    leases = leases.beat(_session("w", at=1.5, held={A: 1}))
    assert leases.holders((), {}, 1.5) == {A: {"w"}}
    assert leases.beat(_session("w", at=1.6)).holders((), {}, 1.6) == {}


def test_what_was_taken_before_its_worker_had_heard_of_it_is_held_until_it_must_have() -> None:
    leases = _leases(w=_session("w")).taken([Assigned(A, "w", 1)], now=1.0)
    early, late = 1.0 + NEWS_TRAVEL_SECONDS / 2, 1.1 + NEWS_TRAVEL_SECONDS
    leases = leases.beat(_session("w", at=early))
    assert leases.holders((), {}, early) == {A: {"w"}}
    assert leases.beat(_session("w", at=late)).holders((), {}, late) == {}


def test_nobody_waits_for_the_drain_of_a_lost_worker() -> None:
    leases = _leases(w=_session("w", held={A: 1})).taken([Assigned(A, "w", 1)], now=1.0).expire(5.0)
    assert leases.holders((), {}, 5.0) == {}
    assert not leases.drains


def test_a_status_counts_only_while_its_worker_may_still_join() -> None:
    leases = Leases(since=0.0, length=5.0).beat(_session("w", at=3.0))
    assert leases.holders((), {A: "unheard", B: "w"}, 3.0) == {A: {"unheard"}}
    assert leases.holders((), {A: "unheard"}, 5.0) == {}


def test_a_beat_that_only_renews_the_lease_is_the_same_work() -> None:
    leases = _leases(w=_session("w", held={A: 1}))
    assert leases.beat(_session("w", at=1.0, held={A: 1})).same_work(leases, "w")
    assert not leases.beat(_session("w", at=1.0)).same_work(leases, "w")
    assert not leases.beat(_session("w", held={A: 1}, leaving=True)).same_work(leases, "w")
    assert not leases.beat(_session("v")).same_work(leases, "v")


def test_a_beat_that_lists_more_is_the_same_work_as_it_frees_nothing() -> None:
    leases = _leases(w=_session("w", held={A: 1}))
    more = leases.beat(_session("w", at=1.0, held={A: 1, B: 2}))
    assert more.same_work(leases, "w")
    assert not leases.beat(_session("w", at=2.0, held={B: 2})).same_work(more, "w")


HOSTS_END = ORPHANED_HOST_SECONDS + NOTICE_SECONDS


def test_the_work_of_a_worker_that_died_is_with_it_until_its_hosts_have_ended() -> None:
    leases = _leases(w=_session("w", at=10.0, held={A: 1})).died("w", seen=11.0, now=11.0)
    assert leases.taking == set()
    end = 11.0 + HOSTS_END
    assert leases.next_deadline({"w"}, 11.0) == end
    assert leases.may_run("w", end - 0.1)
    assert leases.there("w", end - 0.1)
    assert not leases.may_run("w", end)
    assert not leases.there("w", end)


def test_a_worker_that_died_is_not_waited_for_beyond_its_lease() -> None:
    leases = _leases(w=_session("w", at=10.0)).died("w", seen=14.5, now=14.5)
    assert leases.next_deadline({"w"}, 14.5) == 15.0


def test_a_worker_that_beat_after_it_was_asked_for_is_back() -> None:
    leases = _leases(w=_session("w", at=12.0))
    assert leases.died("w", seen=11.0, now=13.0) is leases


def test_what_a_lost_worker_ran_is_known_not_to_run_while_its_work_waits_for_it() -> None:
    leases = Leases(since=0.0, length=5.0, delay=30.0).beat(_session("w", at=100.0))
    leases = leases.died("w", seen=101.0, now=101.0)
    assert leases.next_deadline({"w"}, 101.0) == 101.0 + HOSTS_END
    after = 101.0 + HOSTS_END
    assert leases.there("w", after)
    assert not leases.may_run("w", after)
    assert leases.next_deadline({"w"}, after) == after + 30.0


def test_a_worker_that_answers_at_its_address_keeps_its_lease_and_what_it_holds() -> None:
    leases = _leases(w=_session("w", at=10.0, held={A: 1})).heard("w", 13.0)
    assert leases.expire(17.9).sessions["w"].held == {A: 1}
    assert leases.expire(18.0).taking == set()


#: What takes this long is waited for by nothing here.
LONG_LEASE = 3600.0
LEASE = 3.0
WORKER = "worker:8083"


class Asked:
    """A scheduler that leads, and a worker that beat once and whose address is played."""

    def __init__(self, workers: LiveWorkers, lease: float) -> None:
        self.workers = workers
        self.listens = Reach.ACCEPTED
        self.serving = False
        self.asked = 0
        self.probing = Probing(workers, lease, self._reach, self._serves)
        self.workers.beat(WORKER, {}, leaving=False)

    async def until_asked(self, times: int) -> None:
        """Wait until the address was asked so many times more."""
        enough = self.asked + times
        while self.asked < enough:  # noqa: ASYNC110 - the clock is simulated
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.01)  # what was answered is heard

    def there(self) -> bool:
        """Return whether the worker has its lease."""
        return WORKER in self.workers.expire().sessions

    async def _reach(self, address: str, _timeout: float) -> Reach:
        assert address == WORKER
        self.asked += 1
        return self.listens

    async def _serves(self, address: str, _timeout: float) -> bool:
        assert address == WORKER
        return self.serving


@asynccontextmanager
async def asking(lease: float, listens: Reach = Reach.ACCEPTED) -> AsyncIterator[Asked]:
    """Run the questions; the address was asked once."""
    events = event_sourced(MemoryLog())
    await events.start()
    await events.lead()
    it = Asked(LiveWorkers(events, lambda: None, lease_seconds=lease, delay_seconds=0), lease)
    it.listens = listens
    running = asyncio.create_task(it.probing.run())
    try:
        await it.until_asked(1)
        yield it
    finally:
        running.cancel()
        await asyncio.wait([running])
        await events.stop()


@simulated
async def test_a_worker_whose_process_is_gone_is_lost_long_before_its_lease_ends() -> None:
    async with asking(LONG_LEASE) as it:
        it.listens = Reach.REFUSED
        it.probing.stream_ended(WORKER)
        await it.until_asked(1)
        assert not it.there()


@simulated
async def test_a_worker_whose_connection_broke_and_that_listens_still_has_its_lease() -> None:
    async with asking(LONG_LEASE) as it:
        it.probing.stream_ended(WORKER)
        await it.until_asked(len(WAITS_SECONDS))
        assert it.there()
        asked = it.asked
        await asyncio.sleep(LONG_LEASE / 4)
        assert (it.there(), it.asked) == (True, asked)


@simulated
async def test_an_address_nobody_was_ever_seen_at_says_nothing_by_refusing() -> None:
    async with asking(LONG_LEASE, Reach.REFUSED) as it:
        it.probing.stream_ended(WORKER)
        await it.until_asked(3)  # it is asked like anybody who is not known to listen
        assert it.there()


@simulated
async def test_a_silent_worker_that_answers_that_it_serves_keeps_its_work() -> None:
    async with asking(LEASE) as it:
        it.serving = True
        await asyncio.sleep(10 * LEASE)  # it beats no more
        assert it.there()
        it.serving = False
        await asyncio.sleep(2 * LEASE)
        assert not it.there()
