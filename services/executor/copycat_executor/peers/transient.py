"""Which failures of a call may pass: those are tried again, the others are final."""

from __future__ import annotations

from copycat_connect.errors import CopycatError, UnavailableError
from copycat_rpc.errors import code_of

TRANSIENT_CODES = frozenset({"UNAVAILABLE", "UNKNOWN", "DEADLINE_EXCEEDED"})


def is_transient(error: CopycatError) -> bool:
    """Return whether the same call may succeed later; an unknown outcome counts, our calls may repeat."""
    return isinstance(error, UnavailableError) or code_of(error).grpc in TRANSIENT_CODES
