"""Questions under way: one thread asks and waits, another brings the answer."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as LateError
from typing import Generic, TypeVar

from copycat_connect.errors import CopycatError, RetriableError

T = TypeVar("T")


class Answers(Generic[T]):
    """Numbers questions and hands their answers over; callable from any thread."""

    def __init__(self, who: str, seconds: float) -> None:
        """Say who answers, and how long that may take."""
        self._who = who
        self._seconds = seconds
        self._numbers = itertools.count(1)
        self._open: dict[int, Future[T]] = {}
        self._lock = threading.Lock()

    def ask(self, send: Callable[[int], None]) -> T:
        """Send a question under its number and wait for the answer.

        Raises:
            RetriableError: There is no answer.
            CopycatError: The answer is a refusal.
        """
        answer: Future[T] = Future()
        with self._lock:
            number = next(self._numbers)
            self._open[number] = answer
        send(number)
        try:
            return answer.result(self._seconds)
        except LateError as error:
            raise RetriableError(f"{self._who} did not answer in time") from error
        finally:
            self._open.pop(number, None)

    def answer(self, number: int, found: T | CopycatError) -> None:
        """Hand over an answer, or why it is missing; one that nobody waits for is dropped."""
        waiting = self._open.get(number)
        if waiting is None or waiting.done():
            return
        if isinstance(found, CopycatError):
            waiting.set_exception(found)
        else:
            waiting.set_result(found)

    def abandon(self) -> None:
        """Let everybody who waits fail: the executor is gone."""
        for number in list(self._open):
            self.answer(number, RetriableError("The executor is gone"))
