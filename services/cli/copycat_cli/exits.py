"""The exit codes of every command, as `copycat --help` documents them."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What a script may branch on."""

    DONE = 0
    NO = 1
    """The answer is no: there is a difference, something FAILED, or the user declined."""
    USAGE = 2
    """The command line or a file is wrong; nothing was sent."""
    NOT_FOUND = 3
    REFUSED = 4
    """The cluster refused: the configuration is invalid, or the connector is in the wrong state."""
    UNREACHABLE = 5
    LATE = 6
    """What was waited for did not come in time."""
    BROKEN = 7
    """The cluster failed to answer the request."""


EXPLAINED = {
    ExitCode.DONE: "done",
    ExitCode.NO: "no: there is a difference, something FAILED, or you declined",
    ExitCode.USAGE: "the command line or a file is wrong",
    ExitCode.NOT_FOUND: "not found",
    ExitCode.REFUSED: "refused: the configuration is invalid, or the state is wrong for it",
    ExitCode.UNREACHABLE: "no cluster answers at --url",
    ExitCode.LATE: "not in time: what --wait-for waits for did not come",
    ExitCode.BROKEN: "the cluster failed while it worked on the request",
}
