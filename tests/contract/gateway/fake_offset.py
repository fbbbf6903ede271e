"""An offset service in dicts."""

from __future__ import annotations

from typing import Any

from copycat.offset.v1 import offset_service_pb2 as pb
from copycat.offset.v1.offset_service_pb2_grpc import OffsetServiceServicer
from copycat.types.v1 import types_pb2
from copycat_connect.errors import CopycatError, ErrorCode
from copycat_rpc.messages import config_from_proto


class GroupActiveError(CopycatError):
    code = ErrorCode("group.active", grpc="FAILED_PRECONDITION", http=500)


class FakeOffset(OffsetServiceServicer):
    """Keeps offsets by connector and by group; `fails` or `fails_writes` is raised instead."""

    def __init__(self) -> None:
        self.source: dict[str, dict[bytes, bytes]] = {}
        self.groups: dict[str, dict[tuple[str, int], int]] = {}
        self.overrides: list[dict[str, str | None]] = []
        self.fails: Exception | None = None
        self.fails_writes: Exception | None = None
        self.cannot_remember: Exception | None = None
        self.changes: dict[str, pb.OffsetsChange] = {}
        self.effects: list[pb.SinkEffect] = []
        """What a change of positions would do, whatever is asked."""
        self.asked: list[pb.DescribeSinkMovesRequest] = []

    async def ListSourceOffsets(
        self, request: pb.ListSourceOffsetsRequest, context: Any
    ) -> pb.ListSourceOffsetsResponse:
        self._may_answer()
        known = self.source.get(request.connector, {})
        return pb.ListSourceOffsetsResponse(
            offsets=[types_pb2.SourceOffset(partition=key, offset=value) for key, value in known.items()]
        )

    async def ListSinkOffsets(
        self, request: pb.ListSinkOffsetsRequest, context: Any
    ) -> pb.ListSinkOffsetsResponse:
        self._may_answer()
        self.overrides.append(config_from_proto(request.overrides))
        known = self.groups.get(request.group_id, {})
        return pb.ListSinkOffsetsResponse(
            offsets=[
                types_pb2.TopicPartitionOffset(topic=topic, partition=partition, offset=offset)
                for (topic, partition), offset in known.items()
            ]
        )

    async def AlterSourceOffsets(
        self, request: pb.AlterSourceOffsetsRequest, context: Any
    ) -> pb.AlterSourceOffsetsResponse:
        self._may_write()
        known = self.source.setdefault(request.connector, {})
        for entry in request.offsets:
            if entry.HasField("offset"):
                known[entry.partition] = entry.offset
            else:
                known.pop(entry.partition, None)
        return pb.AlterSourceOffsetsResponse()

    async def AlterSinkOffsets(
        self, request: pb.AlterSinkOffsetsRequest, context: Any
    ) -> pb.AlterSinkOffsetsResponse:
        self._may_write()
        self.overrides.append(config_from_proto(request.overrides))
        known = self.groups.setdefault(request.group_id, {})
        known |= {(entry.topic, entry.partition): entry.offset for entry in request.offsets}
        for entry in request.removed:
            known.pop((entry.topic, entry.partition), None)
        return pb.AlterSinkOffsetsResponse()

    async def DeleteSinkOffsets(
        self, request: pb.DeleteSinkOffsetsRequest, context: Any
    ) -> pb.DeleteSinkOffsetsResponse:
        self._may_write()
        self.overrides.append(config_from_proto(request.overrides))
        self.groups.pop(request.group_id, None)
        return pb.DeleteSinkOffsetsResponse()

    async def DescribeSinkMoves(
        self, request: pb.DescribeSinkMovesRequest, context: Any
    ) -> pb.DescribeSinkMovesResponse:
        self._may_answer()
        self.asked.append(request)
        return pb.DescribeSinkMovesResponse(effects=self.effects)

    async def RememberChange(
        self, request: pb.RememberChangeRequest, context: Any
    ) -> pb.RememberChangeResponse:
        if self.cannot_remember is not None:
            raise self.cannot_remember
        self.changes[request.change.connector] = request.change
        return pb.RememberChangeResponse()

    async def GetLastChange(self, request: pb.GetLastChangeRequest, context: Any) -> pb.GetLastChangeResponse:
        return pb.GetLastChangeResponse(change=self.changes.get(request.connector))

    def _may_answer(self) -> None:
        if self.fails is not None:
            raise self.fails

    def _may_write(self) -> None:
        self._may_answer()
        if self.fails_writes is not None:
            raise self.fails_writes
