"""Calls under way in a child process: each waits under its number for the reply that bears the same."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Generic, assert_never

from copycat_connect.errors import ConnectError
from copycat_rpc.errors import RemoteError

from copycat_executor.domain.errors import PluginProcessGoneError
from copycat_executor.pipes.lines import BadLineError, read_result
from copycat_executor.pipes.messages import (
    Answer,
    Call,
    Failure,
    Refusal,
    Reply,
    StageReached,
    T,
    UnreadResult,
)


class OpenCall(Generic[T]):
    """A call, its result to come, and what it is busy with."""

    def __init__(self, number: int, call: Call[T], stage: str, authors: Sequence[str]) -> None:
        self.number = number
        self.call = call
        self.authors = authors
        self.result: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self.stage = stage
        self.began = now_text()
        self.sent = False
        """Whether a process has it: no code of its authors runs before."""

    def begin(self) -> None:
        """Note that it is sent now."""
        self.sent, self.began = True, now_text()

    def answer(self, result: UnreadResult) -> None:
        """Keep the result, if it is of the call's type: an author may have returned anything."""
        try:
            self.result.set_result(read_result(self.call, result))
        except BadLineError as error:
            message = f"While {self.stage}, the plugin gave what Kafka Connect does not allow: {error}"
            self.result.set_exception(PluginError(Failure(message, message)))


class OpenCalls:
    """The calls that wait for their replies."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._open: dict[int, OpenCall[Any]] = {}

    def new(self, call: Call[T], stage: str, authors: Sequence[str] = ()) -> OpenCall[T]:
        """Give a call its number; `stage` is what hangs when there is no answer, until it reports another.

        Code of `authors` runs for it.
        """
        return OpenCall(next(self._numbers), call, stage, authors)

    def authors(self) -> frozenset[str]:
        """Return whose code runs for calls that were sent and have no reply."""
        unanswered = (call for call in self._open.values() if call.sent and not call.result.done())
        return frozenset(author for call in unanswered for author in call.authors)

    def add(self, call: OpenCall[Any]) -> None:
        """Wait for the replies to a call from now on."""
        self._open[call.number] = call

    def remove(self, call: OpenCall[Any]) -> None:
        """Wait no longer; later replies are dropped."""
        self._open.pop(call.number, None)

    def settle(self, reply: Reply) -> None:
        """Hand a reply over to the call it bears the number of."""
        call = self._open.get(reply.number)
        if call is None or call.result.done():
            return  # its caller waits no longer
        match reply:
            case StageReached(stage=stage, began=began):
                call.stage, call.began = stage, began
            case Refusal(failure=failure):
                call.result.set_exception(PluginError(failure))
            case Answer(result=result):
                call.answer(result)
            case _:
                assert_never(reply)

    def fail(self, error: PluginProcessGoneError) -> None:
        """Fail all calls, since their process ended."""
        for call in self._open.values():
            if not call.result.done():
                call.result.set_exception(error)
                call.result.exception()  # whoever called may be gone by now, which nobody needs to hear of


def now_text() -> str:
    """Return the time of day as stages bear it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class PluginError(RemoteError):
    """Author code failed; it carries the code of the error where that had one."""

    def __init__(self, failure: Failure) -> None:
        """Keep the failure as the child process described it."""
        super().__init__(failure.code or ConnectError.code, failure.message, **failure.fields)
        self.trace = failure.trace
        self.kind = failure.kind
