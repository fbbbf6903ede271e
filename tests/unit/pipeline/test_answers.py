"""Questions that wait for answers."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from copycat_connect.errors import ConfigError, RetriableError
from copycat_executor.pipeline.task.answers import Answers


def answering(answers: Answers[str], found: str | ConfigError) -> Callable[[int], None]:
    return lambda number: threading.Thread(target=answers.answer, args=(number, found)).start()


def test_each_question_gets_its_own_answer() -> None:
    answers: Answers[str] = Answers("The oracle", 10.0)
    assert [answers.ask(answering(answers, text)) for text in ("a", "b")] == ["a", "b"]


def test_a_refusal_is_raised_where_it_was_asked() -> None:
    answers: Answers[str] = Answers("The oracle", 10.0)
    with pytest.raises(ConfigError, match="no"):
        answers.ask(answering(answers, ConfigError("no")))


def test_a_late_answer_is_no_answer_and_may_be_asked_again() -> None:
    answers: Answers[str] = Answers("The oracle", 0.0)
    numbers: list[int] = []
    with pytest.raises(RetriableError, match="The oracle did not answer in time"):
        answers.ask(numbers.append)
    answers.answer(numbers[0], "late")
