"""Log positions on the wire."""

from __future__ import annotations

from copycat.types.v1 import types_pb2
from copycat_eventlog.log import Revision


def revision_to_proto(revision: Revision) -> types_pb2.Revision:
    """Return the message of a revision."""
    return types_pb2.Revision(next=dict(revision.next))


def revision_from_proto(message: types_pb2.Revision) -> Revision:
    """Return the revision of a message."""
    return Revision(dict(message.next))
