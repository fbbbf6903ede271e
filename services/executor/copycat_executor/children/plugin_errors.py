"""What author code raised in the process of the connectors, as an exception of this process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from copycat_connect.errors import ConnectError, ErrorCode
from copycat_rpc.errors import RemoteError


class PluginError(RemoteError):
    """Author code failed; it carries the code of the error where that had one."""

    def __init__(self, failure: Mapping[str, Any]) -> None:
        """Take the failure as the process described it."""
        code = ErrorCode(*failure["code"]) if failure.get("code") else ConnectError.code
        super().__init__(code, failure["message"], **failure.get("fields", {}))
        self.trace: str = failure["trace"]
