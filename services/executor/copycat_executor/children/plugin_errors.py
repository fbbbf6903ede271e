"""What author code raised in a child process, as an exception of this process."""

from __future__ import annotations

from copycat_connect.errors import ConnectError
from copycat_rpc.errors import RemoteError

from copycat_executor.pipes.messages import Failure


class PluginError(RemoteError):
    """Author code failed; it carries the code of the error where that had one."""

    def __init__(self, failure: Failure) -> None:
        """Keep the failure as the child process described it."""
        super().__init__(failure.code or ConnectError.code, failure.message, **failure.fields)
        self.trace = failure.trace
        self.kind = failure.kind
