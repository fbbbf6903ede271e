"""Requests about consumer groups, as Kafka's protocol has them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, TypeVar

from aiokafka.protocol.admin import DeleteGroupsRequest
from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.commit import OffsetCommitRequest, OffsetFetchRequest
from aiokafka.protocol.types import Array, Int16, Int32, Schema, String
from copycat_connect.cluster import TopicPartition

V = TypeVar("V")
#: A commit from outside of the group: no member, and the brokers' own retention.
_NO_GENERATION: Final = OffsetCommitRequest.DEFAULT_GENERATION_ID
_NO_MEMBER: Final = ""
_RETENTION: Final = OffsetCommitRequest.DEFAULT_RETENTION_TIME
_NO_METADATA: Final = ""


class _OffsetDeleteResponse(Response):  # type: ignore[misc]  # aiokafka is untyped
    API_KEY = 47
    API_VERSION = 0
    SCHEMA = Schema(
        ("error_code", Int16),
        ("throttle_time_ms", Int32),
        (
            "topics",
            Array(
                ("name", String("utf-8")),
                ("partitions", Array(("partition_index", Int32), ("error_code", Int16))),
            ),
        ),
    )


class _OffsetDeleteRequestStruct(RequestStruct):  # type: ignore[misc]  # likewise
    API_KEY = 47
    API_VERSION = 0
    RESPONSE_TYPE = _OffsetDeleteResponse
    SCHEMA = Schema(
        ("group_id", String("utf-8")),
        ("topics", Array(("name", String("utf-8")), ("partitions", Array(Int32)))),
    )


class _OffsetDeleteRequest(Request[_OffsetDeleteRequestStruct]):  # type: ignore[misc]  # likewise
    """OffsetDelete (KIP-496), version 0, the only one there is; aiokafka lacks it."""

    API_KEY = 47

    def __init__(self, group: str, topics: list[tuple[str, list[int]]]) -> None:
        self._group = group
        self._topics = topics

    def build(self, request_struct_class: type[_OffsetDeleteRequestStruct]) -> _OffsetDeleteRequestStruct:
        return request_struct_class(self._group, self._topics)


def fetch_request(group: str) -> Request[Any]:
    """Ask for all committed positions of a group."""
    return OffsetFetchRequest(group, None)


def fetched_positions(response: Any) -> tuple[dict[TopicPartition, int], list[int]]:
    """Return the positions of an answer, and its error codes other than 0."""
    positions, codes = {}, [response.error_code]
    for topic, partitions in response.topics:
        for partition, offset, _, code in partitions:
            codes.append(code)
            if offset >= 0:
                positions[TopicPartition(topic, partition)] = offset
    return positions, _errors(codes)


def commit_request(group: str, offsets: Mapping[TopicPartition, int]) -> Request[Any]:
    """Commit positions in the name of nobody: refused while the group has members."""
    entries = [(key, (key.partition, offset, _NO_METADATA)) for key, offset in offsets.items()]
    return OffsetCommitRequest(group, _NO_GENERATION, _NO_MEMBER, _RETENTION, _by_topic(entries))


def commit_errors(response: Any) -> list[int]:
    """Return the error codes of the partitions that were not committed."""
    return _errors(code for _, partitions in response.topics for _, code in partitions)


def forget_request(group: str, partitions: Collection[TopicPartition]) -> Request[Any]:
    """Remove the positions of some partitions."""
    return _OffsetDeleteRequest(group, _by_topic((key, key.partition) for key in partitions))


def forget_errors(response: Any) -> list[int]:
    """Return the error codes of the group and the partitions that were not removed."""
    codes = [code for _, partitions in response.topics for _, code in partitions]
    return _errors([response.error_code, *codes])


def delete_request(group: str) -> Request[Any]:
    """Remove a group."""
    return DeleteGroupsRequest([group])


def delete_errors(response: Any) -> list[int]:
    """Return the error code of a group that was not removed."""
    return _errors(code for _, code in response.results)


def _errors(codes: Iterable[int]) -> list[int]:
    return [code for code in codes if code]


def _by_topic(entries: Iterable[tuple[TopicPartition, V]]) -> list[tuple[str, list[V]]]:
    topics: dict[str, list[V]] = defaultdict(list)
    for key, entry in entries:
        topics[key.topic].append(entry)
    return list(topics.items())
