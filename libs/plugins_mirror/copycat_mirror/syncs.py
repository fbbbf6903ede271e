"""Offset syncs: where their topic is, and how consumer offsets are translated with them.

The translation is MirrorMaker's: of each partition at most 64 syncs are kept, close together near the newest
and ever further apart behind it; an offset is translated with the newest sync that is not after it, and lies
one behind that sync's offset at the target unless it is the sync's own. So a group never skips a record,
and may read some again.
"""

from __future__ import annotations

from copycat_connect.errors import ConnectError

from copycat_mirror.cluster import MirrorCluster
from copycat_mirror.records import OffsetSync
from copycat_mirror.settings import MirrorSettings

SYNCS_PER_PARTITION = 64
TOO_OLD = -1
"""What an offset before all syncs is translated to."""


def syncs_topic(settings: MirrorSettings, *, at_source: bool) -> str:
    """Return the name of the topic of offset syncs: it has the alias of the cluster it is not at."""
    return settings.policy.offset_syncs_topic(settings.target_alias if at_source else settings.source_alias)


def make_internal_topic(cluster: MirrorCluster, topic: str, replication: int, replication_key: str) -> None:
    """Make a compacted topic of one partition unless it is there.

    Raises:
        ConnectError: It cannot be made; RetriableError where that may pass.
    """
    try:
        cluster.create_topic(topic, 1, replication, {"cleanup.policy": "compact"})
    except ConnectError as error:
        if type(error) is not ConnectError:
            raise
        raise ConnectError(
            f"{error.message}. {replication_key} must not be more than the cluster's number of brokers"
        ) from error


class OffsetTranslation:
    """The syncs of all partitions, and the translation with them."""

    def __init__(self) -> None:
        self._syncs: dict[tuple[str, int], list[OffsetSync]] = {}
        self.ready = False
        """Set once the topic was read to its end: until then nothing is translated."""
        self.keeps_history = True
        """Whether syncs from before `ready` are kept, or only the newest: without checkpoints of an earlier
        life, translating with older syncs could send a group back."""

    def add(self, sync: OffsetSync) -> None:
        """Apply the next sync of the topic."""
        where = (sync.topic, sync.partition)
        kept = self._syncs.get(where)
        only_newest = not self.ready and not self.keeps_history
        if kept is None or only_newest or sync.upstream < kept[0].upstream:
            # An offset that went back says that the topic began anew: what was known is void.
            self._syncs[where] = [sync] * SYNCS_PER_PARTITION
        else:
            self._syncs[where] = _with(kept, sync)

    def translate(self, topic: str, partition: int, upstream: int) -> int | None:
        """Return where a group goes on at the target; None when that is unknown, or `TOO_OLD`."""
        kept = self._syncs.get((topic, partition))
        if not self.ready or kept is None:
            return None
        sync = next((each for each in kept if each.upstream <= upstream), None)
        if sync is None:
            return TOO_OLD
        return sync.downstream + (upstream != sync.upstream)


def _with(old: list[OffsetSync], newest: OffsetSync) -> list[OffsetSync]:
    """Return the syncs to keep: place n holds one at most 2^n older than place 0, where there is one.

    Each place that holds a sync which is too old by now takes the best one left of it: recent enough for the
    place, and apart from its neighbours, so that those that are kept spread out.
    """
    kept = [newest, *old[1:]]
    offered, candidate = newest, 0
    for place in range(1, SYNCS_PER_PARTITION):
        before = kept[place - 1]
        while True:
            sync = old[candidate]
            apart = _apart(before, sync, place - 1)
            last = place + 1 >= SYNCS_PER_PARTITION
            fits = (
                apart
                and _recent(before, sync, place - 1, place)
                and (last or _apart(sync, kept[place + 1], place))
            )
            if fits:
                offered = sync
            repeated = candidate + 1 < SYNCS_PER_PARTITION and sync is old[candidate + 1]
            useless = repeated or not apart
            if fits or useless:
                candidate += 1
            if candidate >= place or not useless:
                break
        if _recent(before, kept[place], place - 1, place):
            break  # the rest was right before and still is
        kept[place] = offered
    return kept


def _recent(newer: OffsetSync, older: OffsetSync, place: int, next_place: int) -> bool:
    return newer is older or newer.upstream <= older.upstream + (1 << next_place) - (1 << place)


def _apart(newer: OffsetSync, older: OffsetSync, place: int) -> bool:
    return newer is older or newer.upstream >= older.upstream + (1 << max(place - 2, 0))
