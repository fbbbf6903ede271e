"""Why a cluster of Kafka Connect cannot be judged."""

from __future__ import annotations

from copycat_cli.errors import CliError, ExitCode
from copycat_connect.errors import ErrorCode


class UnreadableClusterError(CliError):
    """The other cluster, or the file of its worker, cannot be read; the text names what to give instead."""

    code = ErrorCode("migrate.unreadable", grpc="UNAVAILABLE", http=503)
    exit_code = ExitCode.USAGE
