"""Why a command ends without having done its work: what happened, why, and with which exit code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import ClassVar

from copycat_connect.cluster import Config
from copycat_connect.errors import CopycatError, ErrorCode


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


class CliError(CopycatError):
    """The root of the errors of this room."""

    code = ErrorCode("cli.failed", grpc="INTERNAL", http=500)
    exit_code: ClassVar[ExitCode] = ExitCode.BROKEN


class ConnectorFileError(CliError):
    """A connector file cannot be read, or describes no connector."""

    code = ErrorCode("cli.file", grpc="INVALID_ARGUMENT", http=400)
    exit_code = ExitCode.USAGE


class UsageError(CliError):
    """The command line asks for something that cannot be."""

    code = ErrorCode("cli.usage", grpc="INVALID_ARGUMENT", http=400)
    exit_code = ExitCode.USAGE


class UnknownNameError(CliError):
    """The cluster knows nothing of this name."""

    code = ErrorCode("cli.not_found", grpc="NOT_FOUND", http=404)
    exit_code = ExitCode.NOT_FOUND


class RefusedError(CliError):
    """The cluster understood and said no."""

    code = ErrorCode("cli.refused", grpc="FAILED_PRECONDITION", http=400)
    exit_code = ExitCode.REFUSED


class PluginPackageError(CliError):
    """A package of plugins cannot be installed, loaded or removed here."""

    code = ErrorCode("cli.plugin_package", grpc="FAILED_PRECONDITION", http=400)
    exit_code = ExitCode.REFUSED


class ExistsError(RefusedError):
    """A connector that is to be created is there already."""

    code = ErrorCode("cli.exists", grpc="ALREADY_EXISTS", http=409)


class InvalidConfigError(RefusedError):
    """A connector configuration is invalid; the reasons are listed key by key."""

    code = ErrorCode("cli.invalid", grpc="INVALID_ARGUMENT", http=400)

    def __init__(
        self,
        config: Config,
        plugin: str,
        reasons: Mapping[str, Sequence[str]],
        notes: Sequence[str] = (),
    ) -> None:
        """Keep the plugin whose keys they are; empty where no such plugin exists."""
        lines = [f"  {key}: {reason}" for key, listed in reasons.items() for reason in listed]
        heading = f"The configuration of {config.get('name')} is invalid, {len(lines)} error(s):"
        super().__init__("\n".join((heading, *lines, *(f"  note: {note}" for note in notes))))
        self.plugin = plugin


class UnreachableError(CliError):
    """Nothing that speaks Kafka Connect's REST answers at this address."""

    code = ErrorCode("cli.unreachable", grpc="UNAVAILABLE", http=503)
    exit_code = ExitCode.UNREACHABLE


class UntrustedError(UnreachableError):
    """What answers shows a certificate that is not trusted."""

    code = ErrorCode("cli.untrusted", grpc="UNAVAILABLE", http=503)


class AwaitedError(CliError):
    """Connectors did not come to what was waited for."""

    def __init__(self, message: str, connectors: Sequence[str]) -> None:
        """Keep the names of those that did not."""
        super().__init__(message)
        self.connectors = tuple(connectors)


class LateError(AwaitedError):
    """What was waited for did not come in time."""

    code = ErrorCode("cli.late", grpc="DEADLINE_EXCEEDED", http=504)
    exit_code = ExitCode.LATE


class FailedStateError(AwaitedError):
    """A connector or a task is FAILED; the text says why."""

    code = ErrorCode("cli.failed_state", grpc="ABORTED", http=500)
    exit_code = ExitCode.NO
