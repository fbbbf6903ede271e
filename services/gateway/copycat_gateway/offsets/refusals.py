"""Kafka Connect's texts for offsets requests that services or connectors refuse."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Final

from copycat_rpc.errors import RemoteError
from copycat_telemetry.changes import log_change

from copycat_gateway.catalogue import SINK
from copycat_gateway.errors import FailedRequestError, answering_refusals

log = logging.getLogger(__name__)

GROUP_ACTIVE: Final = "group.active"


@contextmanager
def otherwise(text: str) -> Iterator[None]:
    """Answer a failing offset service with this text, Kafka Connect's; the reason goes into the log.

    A refusal with a code of its own status (the service is away, say) is passed on.
    """
    try:
        yield
    except RemoteError as error:
        if error.remote_code.http == FailedRequestError.code.http and error.remote_code.name != GROUP_ACTIVE:
            log_change(log, "offsets request failed", logging.ERROR, answered=text, why=error.message)
            raise FailedRequestError(text) from error
        raise


def tasks_left(connector: str, kind: str, verb: str) -> FailedRequestError:
    """Return the answer for a connector of which some task has not ended; `verb` is alter or reset."""
    what = "consumer group offsets" if kind == SINK else "source offsets"
    return FailedRequestError(
        f"Failed to {verb} {what} for connector {connector} either because its tasks haven't"
        f" stopped completely yet or the connector was resumed before the request to {verb} its offsets could"
        " be successfully completed. If the connector is in a stopped state, this operation can be safely"
        " retried. If it doesn't eventually succeed, the Connect cluster may need to be restarted to get rid"
        f" of the zombie {kind} tasks."
    )


def members_left(connector: str, verb: str) -> AbstractContextManager[None]:
    """Answer a consumer group that still has members, with its tasks or without."""
    return answering_refusals({GROUP_ACTIVE: tasks_left(connector, SINK, verb)})
