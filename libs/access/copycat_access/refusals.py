"""Why somebody is refused: not known, or without the role that is needed."""

from __future__ import annotations

from copycat_connect.cluster import Caller
from copycat_connect.errors import CopycatError, ErrorCode

from copycat_access.roles import Role


class TokenRefusedError(CopycatError):
    """A token is not good here; the reason says nothing of what it contains."""

    code = ErrorCode("access.token_refused", grpc="UNAUTHENTICATED", http=401)

    def __init__(self, reason: str) -> None:
        super().__init__(f"The token was refused: {reason}")


class RoleNeededError(CopycatError):
    """Somebody is known, and may not do this."""

    code = ErrorCode("access.role_needed", grpc="PERMISSION_DENIED", http=403)

    def __init__(self, role: Role, what: str, caller: Caller | None) -> None:
        """`what`: what the role is needed for, such as `connector orders`."""
        who = f"{caller.name} does not have it" if caller is not None else "the caller is not known"
        super().__init__(f"The role {role.label} is needed for {what}, and {who}")
