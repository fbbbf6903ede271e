"""What can keep Kafka from running here; every text names the cause and the fix."""

from __future__ import annotations

from copycat_connect.errors import CopycatError, ErrorCode


class JarError(CopycatError):
    """A jar is missing, cannot be fetched, or is not the one the lock names."""

    code = ErrorCode("embedded.jars", grpc="FAILED_PRECONDITION", http=500)


class BrokerError(CopycatError):
    """The embedded broker did not start, or ended by itself."""

    code = ErrorCode("embedded.broker", grpc="UNAVAILABLE", http=503)
