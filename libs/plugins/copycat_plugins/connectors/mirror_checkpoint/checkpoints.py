"""The newest checkpoint of each group and partition, and which new ones are worth to be written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from copycat_connect.errors import DataError

from copycat_plugins.connectors.mirror.policy import DefaultPolicy
from copycat_plugins.connectors.mirror.records import Checkpoint
from copycat_plugins.connectors.mirror.syncs import OffsetTranslation

UpstreamOffsets = Mapping[tuple[str, int], tuple[int, str]]
"""By topic and partition of the source: offset and metadata."""


class Checkpoints:
    """What was written last, in this life or an earlier one."""

    def __init__(self, groups: Iterable[str], policy: DefaultPolicy, source: str, target: str) -> None:
        """Take the groups, the policy and the aliases of both clusters."""
        self._groups = frozenset(groups)
        self._policy, self._source, self._target = policy, source, target
        self._newest: dict[tuple[str, str, int], Checkpoint] = {}

    def restore(self, key: bytes, value: bytes | None) -> None:
        """Take a record of the topic; those of other groups, and such as nobody can read, are left out."""
        if value is None:
            return
        try:
            checkpoint = Checkpoint.read(key, value)
        except DataError:
            return
        if checkpoint.group in self._groups:
            self._newest[_place(checkpoint)] = checkpoint

    def advance(
        self, group: str, offsets: UpstreamOffsets, translation: OffsetTranslation
    ) -> list[Checkpoint]:
        """Return the checkpoints of a group that are to be written now, and remember them."""
        found = []
        for (topic, partition), (upstream, metadata) in offsets.items():
            downstream = translation.translate(topic, partition, upstream)
            if downstream is None or downstream < 0:
                continue
            checkpoint = Checkpoint(group, self._at_target(topic), partition, upstream, downstream, metadata)
            if self._is_news(checkpoint):
                self._newest[_place(checkpoint)] = checkpoint
                found.append(checkpoint)
        return found

    def of(self, group: str) -> list[Checkpoint]:
        """Return the newest checkpoints of a group."""
        return [checkpoint for checkpoint in self._newest.values() if checkpoint.group == group]

    def _is_news(self, checkpoint: Checkpoint) -> bool:
        before = self._newest.get(_place(checkpoint))
        if before is None or checkpoint.upstream < before.upstream:
            return True  # a group that was set back at the source is set back at the target
        return checkpoint.downstream > before.downstream

    def _at_target(self, topic: str) -> str:
        if self._policy.source_of(topic) == self._target:
            return self._policy.original_topic(topic)  # it came from there: a group comes home
        return self._policy.remote_topic(self._source, topic)


def _place(checkpoint: Checkpoint) -> tuple[str, str, int]:
    return checkpoint.group, checkpoint.topic, checkpoint.partition
