"""Where transactions of a source task begin and end (KIP-618)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from copycat_connect.data import SourceRecord
from copycat_connect.errors import ConnectError, RetriableError
from copycat_connect.plugin.contexts import TransactionContext
from copycat_executor.pipeline.source.transactions import Boundary, ProducerFencedError
from copycat_executor.pipeline.task.control import Ending
from copycat_executor.pipeline.task.stages import Stage, StaleTaskError, TaskFailedError
from copycat_executor.pipeline.task.task_link import ReportedState

from tests.unit.pipeline.source_world import Polled, TransactionalWorld, lines, offset

TIMEOUT = 60.0
POLL = Boundary(TIMEOUT)
INTERVAL = Boundary(TIMEOUT, interval=10.0)
CONNECTOR = Boundary(TIMEOUT, by_connector=True)


def at(position: int) -> bytes:
    """Return the offset that is stored for a position."""
    return f'{{"p":{position}}}'.encode()


def record(value: str, position: int) -> SourceRecord:
    return SourceRecord({"f": "x"}, {"p": position}, "t", value=value)


def transaction(world: TransactionalWorld) -> TransactionContext:
    context = world.task.context.transaction
    assert context is not None
    return context


def test_each_poll_is_a_transaction_of_its_records_and_their_offset() -> None:
    world = TransactionalWorld(lines(2, "a", "b"), lines(3, "c"), boundary=POLL)

    world.run()

    assert world.transactions == [([b"a", b"b"], [at(2)]), ([b"c"], [at(3)])]
    assert world.link.sources == []  # nobody else commits them


def test_all_before_is_fenced_before_the_producer_begins_and_asked_again_after_it() -> None:
    world = TransactionalWorld(boundary=POLL)

    world.run()

    assert world.link.events[:4] == ["fenced", "prepared", "fenced", "RUNNING"]


def test_a_start_overtaken_while_its_producer_began_ends_without_starting_the_task() -> None:
    world = TransactionalWorld(lines(1, "a"), boundary=POLL)
    world.link.fences = [None, StaleTaskError()]

    with pytest.raises(StaleTaskError):
        world.run()

    assert "start" not in world.task.calls
    assert world.transactions == []


def test_a_service_that_is_away_is_asked_again() -> None:
    world = TransactionalWorld(lines(1, "a"), boundary=POLL)
    world.link.fences = [RetriableError("away"), RetriableError("away")]

    world.run()

    assert world.transactions == [([b"a"], [at(1)])]


def test_tasks_that_cannot_be_fenced_fail_the_start() -> None:
    world = TransactionalWorld(boundary=POLL)
    world.link.fences = [ConnectError("no right")]

    with pytest.raises(TaskFailedError) as failed:
        world.run()

    assert failed.value.stage is Stage.START


def test_an_interval_is_committed_at_the_end_of_the_first_batch_after_it_and_at_the_end() -> None:
    world = TransactionalWorld(lines(1, "a"), boundary=INTERVAL)

    def later(seconds: float, position: int, value: str) -> Callable[[], Polled]:
        def passes() -> Polled:
            world.clock.now += seconds
            return lines(position, value)

        return passes

    world.task.script += [later(9, 2, "b"), later(2, 3, "c"), later(1, 4, "d")]
    world.run()

    assert world.transactions == [([b"a", b"b", b"c"], [at(3)]), ([b"d"], [at(4)])]


def test_an_interval_that_ends_while_nothing_comes_is_committed_too() -> None:
    world = TransactionalWorld(lines(1, "a"), boundary=INTERVAL)

    def waits() -> Polled:
        world.task.context.wait(30)
        return lines(2, "b")

    world.task.script += [waits]
    world.run()

    assert world.transactions == [([b"a"], [at(1)]), ([b"b"], [at(2)])]


def test_no_transaction_hangs_open_while_a_task_is_paused() -> None:
    world = TransactionalWorld(lines(1, "a"), boundary=INTERVAL)

    def pauses() -> Polled:
        world.control.set_paused(True)
        return lines(2, "b")

    world.task.script += [pauses]
    world.control.on_wait = world.control.stop
    world.run()

    assert world.transactions == [([b"a", b"b"], [at(2)])]
    assert world.link.states == [ReportedState.RUNNING, ReportedState.PAUSED]


def test_a_task_that_fails_commits_nothing_more() -> None:
    world = TransactionalWorld(lines(1, "a"), boundary=INTERVAL)

    def fails() -> Polled:
        raise ConnectError("broken")

    world.task.script += [fails]
    with pytest.raises(TaskFailedError):
        world.run()

    assert world.transactions == []
    assert world.transactional.aborted == [[b"a"]]


def test_a_task_of_a_lost_executor_commits_nothing() -> None:
    world = TransactionalWorld(lines(1, "a"), boundary=INTERVAL)

    def lost() -> None:
        world.control.stop(Ending.DROP)

    world.task.script += [lost]
    world.run()

    assert world.transactions == []


def test_a_task_that_places_no_boundary_leaves_its_transaction_open_and_its_end_aborts_it() -> None:
    world = TransactionalWorld(lines(1, "a"), lines(2, "b"), boundary=CONNECTOR)

    world.run()

    assert world.transactions == []
    assert world.transactional.aborted == [[b"a", b"b"]]


def test_a_batch_that_is_to_be_committed_takes_all_before_it_along() -> None:
    world = TransactionalWorld(lines(1, "a"), boundary=CONNECTOR)

    def commits() -> Polled:
        transaction(world).commit_transaction()
        return lines(2, "b")

    world.task.script += [commits, lines(3, "c")]
    world.run()

    assert world.transactions == [([b"a", b"b"], [at(2)])]
    assert world.transactional.aborted == [[b"c"]]


def test_the_offset_of_an_aborted_batch_is_committed_by_itself() -> None:
    world = TransactionalWorld(boundary=CONNECTOR)

    def aborts() -> Polled:
        transaction(world).abort_transaction()
        return lines(2, "a", "b")

    world.task.script += [aborts]
    world.run()

    assert world.transactional.aborted == [[b"a", b"b"]]
    assert world.transactions == [([], [at(2)])]


def test_transactions_end_after_the_records_that_the_task_names() -> None:
    world = TransactionalWorld(boundary=CONNECTOR)

    def names() -> Polled:
        records = [record(str(number), number) for number in range(5)]
        transaction(world).commit_transaction(records[1])
        transaction(world).abort_transaction(records[3])
        transaction(world).commit_transaction()
        return records

    world.task.script += [names]
    world.run()

    assert world.transactions == [([b"0", b"1"], [at(1)]), ([], [at(3)]), ([b"4"], [at(4)])]
    assert world.transactional.aborted == [[b"2", b"3"]]


@pytest.mark.parametrize("of_record", [True, False])
def test_to_commit_and_to_abort_at_once_fails_the_task(of_record: bool) -> None:
    world = TransactionalWorld(boundary=CONNECTOR)

    def both() -> Polled:
        only = record("a", 1)
        place = only if of_record else None
        transaction(world).commit_transaction(place)
        transaction(world).abort_transaction(place)
        return [only]

    world.task.script += [both]
    with pytest.raises(TaskFailedError) as failed:
        world.run()

    assert "ask for one" in str(failed.value.__cause__)
    assert world.transactions == []


def test_only_a_connector_that_places_boundaries_has_a_context_for_it() -> None:
    world = TransactionalWorld(lines(1, "a"), boundary=POLL)

    world.run()

    assert world.task.context.transaction is None


def test_a_fence_by_a_newer_start_ends_the_task_without_a_word() -> None:
    world = TransactionalWorld(lines(1, "a"), boundary=POLL)
    world.transactional.failure = ProducerFencedError(0.1)
    world.link.fences = [None, None, StaleTaskError()]

    with pytest.raises(StaleTaskError):
        world.run()


@pytest.mark.parametrize(
    ("seconds_open", "text"),
    [(0.1, "Another producer with the transactional id"), (61.0, "longer than transaction.timeout.ms=60000")],
)
def test_any_other_fence_fails_the_task_with_what_it_means(seconds_open: float, text: str) -> None:
    world = TransactionalWorld(lines(1, "a"), boundary=POLL)
    world.transactional.failure = ProducerFencedError(seconds_open)

    with pytest.raises(TaskFailedError) as failed:
        world.run()

    assert text in str(failed.value.__cause__)


def test_the_task_hears_of_a_commit_after_it() -> None:
    world = TransactionalWorld(lines(1, "a"), boundary=POLL)

    world.run()

    assert world.task.calls.index("commit") > world.task.calls.index("poll")
    assert world.link.topics == ["t"]


def test_sizes_of_transactions_are_measured() -> None:
    world = TransactionalWorld(lines(2, "a", "b"), lines(3, "c"), boundary=POLL)

    world.run()

    sizes = [each["transaction-size"] for each in world.link.measures if "transaction-size" in each]
    assert (sum(each.count for each in sizes), sum(each.total for each in sizes)) == (2, 3)


def test_offsets_of_a_topic_of_ones_own_are_copied_once_they_are_committed() -> None:
    world = TransactionalWorld(lines(1, "a"), lines(2, "b"), boundary=POLL)
    world.copied = True

    world.run()

    assert world.link.sources[-1] == offset(2)
    assert len(world.transactions) == 2


def test_the_last_offsets_before_a_task_falls_idle_are_copied_while_it_idles() -> None:
    copied: list[object] = []

    def look() -> None:
        copied.append(world.link.sources[-1])

    world = TransactionalWorld(lines(1, "a"), lines(2, "b"), boundary=POLL)
    world.copied = True
    world.task.script += [world.later(world.timing.commit_interval), look]

    world.run()

    assert copied == [offset(2)]
