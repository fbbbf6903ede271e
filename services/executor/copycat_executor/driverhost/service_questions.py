"""What a task whose records Spark reads asks other services: in its driver, and from partitions through it.

A partition may be held up for long, and its driver be replaced meanwhile. So, exactly once, it has no plan to
go by: it takes its transactional id, then asks its driver whether the task is still the newest one and where
the unit begins. Without a driver there is no answer, and it writes nothing.
"""

from __future__ import annotations

import base64
import hmac
import json
import pickle
import secrets
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Any, Final

from copycat_connect.errors import ConnectError, RetriableError
from copycat_connect.plugin.contexts import SourceOffset, SourcePartition

from copycat_executor.driverhost.partition_work import PartitionReport
from copycat_executor.pipeline.source.source_offsets import from_json, partition_key
from copycat_executor.pipeline.task.call_log import CallLog
from copycat_executor.pipeline.task.control import TaskControl
from copycat_executor.pipeline.task.stages import StaleTaskError
from copycat_executor.pipeline.task.task_link import TaskLink, until_answered

#: The longest question: a partition asks for one offset, or reports what it measured.
_MAX_QUESTION_BYTES: Final = 1024 * 1024
#: Who writes a line is part of what its proof is made of.
_QUESTION: Final = b"?"
_ANSWER: Final = b"!"
#: So long a peer may take to ask; ours do so at once.
_QUESTION_SECONDS: Final = 60.0


class ServiceQuestions:
    """Asks other services for a task until they answer."""

    def __init__(self, link: TaskLink, control: TaskControl, calls: CallLog) -> None:
        self._link = link
        self._control = control
        self._calls = calls

    def offsets(self, partitions: Sequence[SourcePartition]) -> list[SourceOffset | None]:
        """Return the committed offsets of source partitions.

        Raises:
            DataError: A partition is no map of strings to primitive values.
            DrainedError: The task must end.
        """
        keys = [partition_key(partition) for partition in partitions]
        found = until_answered(
            lambda: self._link.source_offsets(keys),
            self._calls,
            self._control.wait,
            what="offsets",
            complaint="Offsets cannot be read now",
        )
        return [from_json(text) for text in found]

    def await_fence(self) -> None:
        """Wait until all earlier tasks are fenced.

        Raises:
            StaleTaskError: A newer generation of the task exists.
            DrainedError: The task must end.
        """
        until_answered(
            self._link.await_fence,
            self._calls,
            self._control.wait,
            what="fence",
            complaint="This task may not write yet",
        )


@dataclass(frozen=True, slots=True)
class DriverLine:
    """How a partition reaches its driver; one question, one connection."""

    host: str
    """Address of the driver's machine, as its partitions reach it."""
    port: int
    """TCP port on which the driver answers them."""
    token: str = field(repr=False)
    """Known to the driver and its partitions alone."""

    def source_offsets(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Ask for committed source offsets; raises as `TaskLink.source_offsets` does."""
        answer: list[str | None] = self._ask([key.decode() for key in keys])
        return [None if text is None else text.encode() for text in answer]

    def await_fence(self) -> None:
        """Ask whether this task may write; raises as `TaskLink.await_fence` does."""
        self._ask(None)

    def note(self, report: PartitionReport) -> None:
        """Have the driver note what a partition without an end of its own has to say."""
        self._ask(None, base64.b64encode(pickle.dumps(report)).decode())

    def _ask(self, keys: list[str] | None, report: str | None = None) -> Any:  # noqa: ANN401 - offsets, or nothing
        asked = {"offsets": keys, "report": report}
        with socket.create_connection((self.host, self.port)) as line, line.makefile("rwb") as file:
            nonce = file.readline()
            file.write(_sealed(self.token, nonce + _QUESTION, json.dumps(asked)))
            file.flush()
            answered = file.readline()
        if not answered:
            raise ConnectError("The driver of this partition has ended")
        answer = json.loads(_opened(self.token, nonce + _ANSWER, answered))
        match answer["error"]:
            case None:
                return answer["found"]
            case "stale":
                raise StaleTaskError
            case "passes":
                raise RetriableError(answer["text"])
            case _:
                raise ConnectError(answer["text"])


class PartitionLine:
    """The driver's end: answers its partitions, each in a thread of its own, until it is closed."""

    def __init__(
        self,
        link: TaskLink,
        addresses: tuple[str, str],
        noted: Callable[[PartitionReport], None] | None = None,
    ) -> None:
        """Listen on the first of two addresses, which partitions reach at the second.

        `link` has the answers, and `noted` gets reports.

        Raises:
            OSError: This machine does not have the address.
        """
        token = secrets.token_urlsafe(32)
        (family, *_), *_ = socket.getaddrinfo(addresses[0], 0, type=socket.SOCK_STREAM)

        class Answer(StreamRequestHandler):
            timeout = _QUESTION_SECONDS

            def handle(self) -> None:
                nonce = secrets.token_urlsafe(32).encode() + b"\n"
                self.wfile.write(nonce)
                asked = json.loads(
                    _opened(token, nonce + _QUESTION, self.rfile.readline(_MAX_QUESTION_BYTES))
                )
                answer: dict[str, Any] = {"error": None, "found": None}
                if noted is not None and asked["report"] is not None:
                    # Whoever knows the token is a partition of ours, and has written it.
                    noted(pickle.loads(base64.b64decode(asked["report"])))  # noqa: S301
                else:
                    answer = _answer(link, asked["offsets"])
                self.wfile.write(_sealed(token, nonce + _ANSWER, json.dumps(answer)))

        class Server(_Server):
            address_family = family

        self._server = Server((addresses[0], 0), Answer)
        self.line = DriverLine(addresses[1], self._server.server_address[1], token)
        threading.Thread(target=self._server.serve_forever, name="partition-line", daemon=True).start()

    def close(self) -> None:
        """Answer no more questions."""
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingTCPServer):
    daemon_threads = True  # a question may take minutes
    block_on_close = False
    request_queue_size = 64

    def handle_error(self, *_: object) -> None:
        """Say nothing: a partition that has ended hears no answer, and a stranger gets none."""


def _sealed(token: str, nonce: bytes, text: str) -> bytes:
    """Return a line that only who knows the token writes; the token itself does not travel."""
    return _proof(token, nonce, text.encode()) + b" " + text.encode() + b"\n"


def _opened(token: str, nonce: bytes, line: bytes) -> bytes:
    """Return the text of such a line.

    Raises:
        ConnectError: A stranger has written it.
    """
    proof, _, text = line.removesuffix(b"\n").partition(b" ")
    if not hmac.compare_digest(proof, _proof(token, nonce, text)):
        raise ConnectError(
            "Somebody else than the driver of this partition, or than a partition, has written"
        )
    return text


def _proof(token: str, nonce: bytes, text: bytes) -> bytes:
    return hmac.new(token.encode(), nonce + text, "sha256").hexdigest().encode()


def _answer(link: TaskLink, keys: list[str] | None) -> dict[str, Any]:
    try:
        if keys is None:
            link.await_fence()
            return {"error": None, "found": None}
        found = link.source_offsets([key.encode() for key in keys])
    except StaleTaskError:
        return {"error": "stale"}
    except RetriableError as error:
        return {"error": "passes", "text": str(error)}
    except ConnectError as error:
        return {"error": "final", "text": str(error)}
    return {"error": None, "found": [None if text is None else text.decode() for text in found]}
