"""Where failed sink records go.

What a dead letter queue keeps of a source's records.
"""

from __future__ import annotations

import pytest
from copycat_connect.data import SinkRecord, UnreadableRecord
from copycat_connect.data.records import SourceRecord
from copycat_connect.data.schema import Schema
from copycat_connect.errors import ConnectError, DataError
from copycat_executor.pipeline.records.dead_letter import DeadLetterQueue, SourceLetters, letter_of_message
from copycat_executor.pipeline.records.receiver import TracedRecord
from copycat_executor.pipeline.records.sender import Done, OutgoingRecord
from copycat_executor.pipeline.records.tolerate import ErrorPolicy, FailedRecord
from copycat_executor.pipeline.sink.errant_records import ErrantRecords
from copycat_executor.pipeline.task.measures import Measures
from copycat_executor.pipeline.task.stages import Stage, TaskFailedError, ToleranceExceededError

from tests.unit.pipeline.fakes import Clock, FakeMessage, FakeSender, Reports, text_converters, tolerance
from tests.unit.pipeline.sink_world import World

MESSAGE = FakeMessage(7, b"value", b"key", headers_=[("h", b"1")], timestamp_=(1, 55))
ALL = ErrorPolicy(tolerate_all=True)


class BrokenSender(FakeSender):
    """Writes nothing."""

    def send(self, record: OutgoingRecord, done: Done | None = None) -> None:
        if done is not None:
            done(None, ConnectError("no such topic"))


def queue(sender: FakeSender, *, context: bool = False) -> DeadLetterQueue:
    return DeadLetterQueue(
        sender,
        "dead",
        "conn",
        3,
        letter_of=letter_of_message,
        context_headers=context,
        measures=Measures(Clock()),
    )


def failed() -> FailedRecord:
    return FailedRecord(Stage.VALUE_CONVERTER, "Text", DataError("no text"), MESSAGE)


def test_a_failed_message_is_kept_as_it_was() -> None:
    sender = FakeSender()

    queue(sender).report(failed())

    assert sender.records == [OutgoingRecord("dead", b"value", b"key", [("h", b"1")], timestamp=55)]


def test_context_headers_say_where_and_why_in_text() -> None:
    sender = FakeSender()

    queue(sender, context=True).report(failed())

    headers = list(sender.records[0].headers)
    assert headers[0] == ("h", b"1")
    assert headers[1:-1] == [
        ("__connect.errors.topic", b"t"),
        ("__connect.errors.partition", b"0"),
        ("__connect.errors.offset", b"7"),
        ("__connect.errors.connector.name", b"conn"),
        ("__connect.errors.task.id", b"3"),
        ("__connect.errors.stage", b"VALUE_CONVERTER"),
        ("__connect.errors.class.name", b"Text"),
        ("__connect.errors.exception.class.name", b"org.apache.kafka.connect.errors.DataException"),
        ("__connect.errors.exception.message", b"no text"),
    ]
    name, trace = headers[-1]
    assert name == "__connect.errors.exception.stacktrace"
    assert trace is not None
    assert trace.startswith(b"org.apache.kafka.connect.errors.DataException: no text")


def test_what_is_told_of_a_failure_holds_no_secret() -> None:
    sender = FakeSender()
    hidden = DeadLetterQueue(
        sender,
        "dead",
        "conn",
        3,
        letter_of=letter_of_message,
        context_headers=True,
        measures=Measures(Clock()),
        scrub=lambda text: text.replace("no text", "[hidden]"),
    )

    hidden.report(failed())

    told = b"".join(value or b"" for _, value in sender.records[0].headers)
    assert b"[hidden]" in told
    assert b"no text" not in told


def test_a_queue_that_does_not_answer_holds_up_the_commit() -> None:
    clock = Clock()
    sender = FakeSender()
    sender.slow = True
    sender.on_flush = lambda: setattr(clock, "now", clock.now + 1)

    assert not queue(sender).settle(2.0, clock)
    sender.slow = False
    assert queue(sender).settle(2.0, clock)


def errant(sender: FakeSender, policy: ErrorPolicy = ALL, reports: Reports | None = None) -> ErrantRecords:
    others = () if reports is None else (reports,)
    return ErrantRecords(tolerance(policy), text_converters(), queue(sender), others)


def traced() -> SinkRecord:
    record = TracedRecord("t", 0, 7, value="value")
    record.message = MESSAGE
    return record


def test_a_record_handed_back_goes_to_the_queue_as_it_was_read() -> None:
    sender = FakeSender()
    reports = Reports()

    answer = errant(sender, reports=reports).report(traced(), DataError("no room"))
    sender.flush(1)

    assert answer.result(0) is None
    assert sender.values == [b"value"]
    assert [(each.stage, each.plugin) for each in reports.failed] == [
        (Stage.TASK_PUT, "org.apache.kafka.connect.sink.SinkTask")
    ]


def test_a_record_the_task_made_itself_is_encoded_again() -> None:
    sender = FakeSender()

    errant(sender).report(SinkRecord("t", 0, 7, "k", "own"), DataError("no room"))

    assert (sender.records[0].key, sender.records[0].value) == (b"k", b"own")


def test_without_tolerance_a_record_handed_back_fails_the_task_even_if_it_looks_away() -> None:
    reporter = errant(FakeSender(), ErrorPolicy())

    with pytest.raises(ToleranceExceededError):
        reporter.report(traced(), DataError("no room"))
    with pytest.raises(ToleranceExceededError):
        reporter.check()


def test_a_record_that_could_not_be_queued_is_told_before_the_commit() -> None:
    reporter = errant(BrokenSender())
    reporter.report(traced(), DataError("no room"))

    for _ in range(2):  # the last commit of a task that failed asks again
        with pytest.raises(ConnectError, match="errant record"):
            reporter.settle()


def test_a_record_that_could_not_be_reported_is_told_though_the_task_swallows_it() -> None:
    reporter = errant(FakeSender())
    with pytest.raises(DataError):
        reporter.report(SinkRecord("t", 0, 7, value=object()), DataError("no room"))

    with pytest.raises(ConnectError, match="errant record"):
        reporter.check()
    with pytest.raises(ConnectError, match="errant record"):
        reporter.settle()


def test_an_answer_that_does_not_come_is_waited_for_and_cannot_be_cancelled() -> None:
    sender = FakeSender()
    reporter = errant(sender)
    answer = reporter.report(traced(), DataError("no room"))

    assert not answer.cancel()
    assert not reporter.settle()
    sender.flush(1)
    assert reporter.settle()


def test_no_commit_passes_a_record_whose_dead_letter_was_lost_not_even_the_last() -> None:
    world = World(*[FakeMessage(offset, b"v") for offset in range(3)])
    world.errant = reporter = errant(BrokenSender())

    def hand_back() -> None:
        reporter.report(traced(), DataError("no room"))

    world.task.on_put = hand_back
    with pytest.raises(TaskFailedError):
        world.until(20)
        world.run()

    assert world.link.sinks == []


def as_text(topic: str, schema: Schema | None, value: object) -> bytes | None:
    if not isinstance(value, str):
        raise DataError("not a text")
    return f"{topic}:{value}".encode()


LETTERS = SourceLetters(as_text)


def test_a_record_that_was_never_encoded_is_encoded_with_its_origin() -> None:
    letter = LETTERS(SourceRecord({"f": 1}, {"p": 2}, "t", "v", key="k", timestamp=5))

    assert (letter.value, letter.key, letter.timestamp) == (b"t:v", b"t:k", 5)
    assert letter.origin == (("topic", "t"), ("source.partition", '{"f": 1}'), ("source.offset", '{"p": 2}'))


def test_what_cannot_be_encoded_is_shown() -> None:
    assert LETTERS(SourceRecord({}, {}, "t", {1, 2})).value == b"{1, 2}"


@pytest.mark.parametrize(("stamp", "kept"), [(0, 0), (-5, -5), (2**70, None), (1.5, None)])
def test_a_letter_keeps_each_timestamp_that_kafka_can_hold(stamp: int, kept: int | None) -> None:
    assert LETTERS(SourceRecord({}, {}, "t", "v", timestamp=stamp)).timestamp == kept


@pytest.mark.parametrize(("stamp", "kept"), [(0, 0), (-1, None), (-5, -5)])
def test_a_letter_has_the_timestamp_of_its_message(stamp: int, kept: int | None) -> None:
    message = FakeMessage(7, b"v", timestamp_=(1, stamp))

    assert letter_of_message(message).timestamp == kept
    assert LETTERS(message).timestamp == stamp  # the producer reads -1 as no timestamp


def test_bytes_that_were_made_are_kept() -> None:
    letter = LETTERS(OutgoingRecord("t", b"v", b"k", [("h", b"1")], timestamp=7))

    assert (letter.value, letter.key, letter.headers, letter.timestamp) == (b"v", b"k", [("h", b"1")], 7)
    assert letter.origin == (("topic", "t"),)


@pytest.mark.parametrize(("found", "kept"), [(b"3;\xff", b"3;\xff"), ("3;ä", "3;ä".encode()), (None, None)])
def test_what_a_source_could_not_read_is_kept_as_it_was_found(
    found: bytes | str | None, kept: bytes | None
) -> None:
    letter = LETTERS(UnreadableRecord({"f": 1}, {"p": 2}, "t", found, DataError("no row")))

    assert letter.value == kept
    assert letter.origin == (("topic", "t"), ("source.partition", '{"f": 1}'), ("source.offset", '{"p": 2}'))
