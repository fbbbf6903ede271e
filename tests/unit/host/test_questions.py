"""Questions to the executor."""

import threading

import pytest
from copycat.host.v1 import host_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_connect.errors import RetriableError
from copycat_executor.taskhost.host_questions import OffsetQuestions

REF = pb.TaskRef(connector="c")


class Asked:
    """Answers each question as the test says."""

    def __init__(self, **answer: object) -> None:
        self.questions = OffsetQuestions(self.hear)
        self.answer = answer

    def hear(self, event: pb.AttachRequest) -> None:
        found = pb.OffsetsFound(sequence=event.offsets_wanted.sequence, **self.answer)  # type: ignore[arg-type]
        threading.Thread(target=self.questions.answer, args=(found,)).start()


def test_answers_come_in_the_order_asked() -> None:
    asked = Asked(
        offsets=[types_pb2.SourceOffset(partition=b"a", offset=b"1"), types_pb2.SourceOffset(partition=b"b")]
    )

    assert asked.questions.ask(REF, [b"a", b"b"]) == [b"1", None]


def test_a_question_that_cannot_be_answered_may_be_asked_again() -> None:
    with pytest.raises(RetriableError, match="no leader"):
        Asked(error="no leader").questions.ask(REF, [b"a"])


def test_nobody_waits_for_an_executor_that_is_gone() -> None:
    questions = OffsetQuestions(lambda _: threading.Thread(target=lambda: questions.abandon()).start())  # noqa: PLW0108  # not bound yet

    with pytest.raises(RetriableError, match="gone"):
        questions.ask(REF, [b"a"])


def test_an_answer_nobody_waits_for_is_dropped() -> None:
    OffsetQuestions(lambda _: None).answer(pb.OffsetsFound(sequence=99))
