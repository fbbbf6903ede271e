"""Why a command ends without having done its work."""

from __future__ import annotations

from copycat_connect.errors import CopycatError, ErrorCode


class StartError(CopycatError):
    """Something needed for the start is missing, taken or did not come up; the text names it and the fix."""

    code = ErrorCode("launcher.start", grpc="FAILED_PRECONDITION", http=500)


class ConnectorStartError(CopycatError):
    """A connector of the command line or of an application was refused, or did not start."""

    code = ErrorCode("launcher.connector", grpc="INVALID_ARGUMENT", http=400)


class UnfitError(CopycatError):
    """A role that was asked for its health does not serve, or does not answer."""

    code = ErrorCode("launcher.unfit", grpc="UNAVAILABLE", http=503)

    def __init__(self, role: str, address: str, obstacle: str) -> None:
        super().__init__(f"The {role} at {address} does not serve: {obstacle}", role=role, address=address)


class HurriedError(CopycatError):
    """Somebody did not want to wait for the drain."""

    code = ErrorCode("launcher.hurried", grpc="ABORTED", http=500)

    def __init__(self) -> None:
        super().__init__("Stopped without draining: what was not committed is done again at the next start")
