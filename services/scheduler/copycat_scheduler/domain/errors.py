"""Why the scheduler refuses."""

from __future__ import annotations

from copycat_connect.errors import CopycatError, ErrorCode


class UnnamedWorkerError(CopycatError):
    """A worker wants to join without a name."""

    code = ErrorCode("worker.unnamed", grpc="INVALID_ARGUMENT", http=400)

    def __init__(self) -> None:
        super().__init__("A worker joins under its worker_id: the host:port of its ExecutorService")
