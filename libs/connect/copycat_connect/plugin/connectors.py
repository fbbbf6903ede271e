"""Connectors: they divide the work into tasks, and move no data themselves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from copycat_connect.cluster import Config, TopicPartition
from copycat_connect.config.setting import ConfigValue
from copycat_connect.plugin.contexts import ConnectorContext, SourceOffset, SourcePartition


class ExactlyOnceSupport(Enum):
    """Whether a source connector can give exactly-once delivery with a configuration."""

    SUPPORTED = "SUPPORTED"
    UNSUPPORTED = "UNSUPPORTED"


class Connector(ABC):
    """What source and sink connectors share.

    The engine calls `initialize`, `start`, then `task_configs` as often as it needs, then `stop`. Calls never
    overlap and each runs under a deadline. The other methods are called on instances that were never started.
    """

    context: ConnectorContext

    def initialize(self, context: ConnectorContext) -> None:
        """Keep the context; called once, before `start`."""
        self.context = context

    @abstractmethod
    def start(self, config: Mapping[str, str]) -> None:
        """Start with the connector's configuration, placeholders resolved.

        Raises:
            ConnectError: The connector cannot work; it becomes FAILED.
        """

    @abstractmethod
    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Divide the work.

        Args:
            max_tasks: The most tasks there may be.

        Returns:
            One configuration per task, evenly filled; fewer when there is less to do, none when nothing.

        Raises:
            RetriableError: It is not known now, e.g. the system is away; it is asked again, and until then
                the status says that the connector waits.
            ConnectError: It is not known until somebody mends something; it is asked again all the same.
        """

    @abstractmethod
    def stop(self) -> None:
        """Let go of everything, e.g. of threads that watch the system."""

    def validate(self, config: Config) -> list[ConfigValue] | None:
        """Check what the definition of single keys cannot say.

        Args:
            config: The raw configuration, placeholders resolved.

        Returns:
            What was found about each key, or None when the definition says it all.
        """
        del config
        return None


class SourceConnector(Connector):
    """A connector that copies from a system into Kafka."""

    def exactly_once_support(self, config: Mapping[str, str]) -> ExactlyOnceSupport | None:
        """Say whether this configuration can be delivered exactly once; None when that is unknown."""
        del config
        return None

    def can_define_transaction_boundaries(self, config: Mapping[str, str]) -> bool:
        """Say whether the tasks place their own transaction boundaries with this configuration."""
        del config
        return False

    def alter_offsets(
        self,
        config: Mapping[str, str],
        offsets: Sequence[tuple[SourcePartition | None, SourceOffset | None]],
    ) -> bool:
        """Check offsets a user wants to set; called before they are stored.

        Args:
            config: The connector's configuration.
            offsets: Source partitions with their new offsets; no offset means forget it.

        Returns:
            True when the connector knows that the new offsets work.

        Raises:
            ConnectError: They would not work; they are not stored.
            OffsetsUnmodifiableError: This connector's offsets cannot be changed by a user, whatever they are.
        """
        del config, offsets
        return False

    def explain_offsets(
        self, config: Mapping[str, str], moves: Sequence[OffsetMove]
    ) -> Sequence[OffsetEffect | None] | None:
        """Say what moves of offsets would repeat and skip, for a user who asks before they are made.

        It may be called on any worker and while the tasks run, and changes nothing anywhere. The offsets are
        as the user gave them: nobody has checked them.

        Args:
            config: The connector's configuration.
            moves: Source partitions, with their offsets now and as they would be.

        Returns:
            One effect for each move, in their order, None for an unknown one; or None where this
            connector cannot say.
        """
        del config, moves
        return None

    def find_offsets(
        self,
        config: Mapping[str, str],
        offsets: Sequence[tuple[SourcePartition, SourceOffset]],
        time: datetime,
    ) -> Sequence[tuple[SourcePartition, SourceOffset | None]] | None:
        """Find the offsets from which on all that is as new as a time is read; changes nothing anywhere.

        Args:
            config: The connector's configuration.
            offsets: Source partitions with their offsets now.
            time: In UTC.

        Returns:
            The partitions that have such an offset, None for the start of one; or None where this connector
            cannot find offsets by time.
        """
        del config, offsets, time
        return None


class SinkConnector(Connector):
    """A connector that copies from Kafka into a system."""

    def exactly_once_support(self, config: Mapping[str, str]) -> ExactlyOnceSupport | None:
        """Say whether its tasks store positions together with the data; None when that is unknown.

        Asked where `delivery.guarantee=exactly_once`, which no sink gets that does not return SUPPORTED.
        """
        del config
        return None

    def alter_offsets(self, config: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]) -> bool:
        """Check or apply offsets a user wants to set; called before the consumer group's are changed.

        No task runs then. A connector whose tasks store positions with their data
        (`SinkTask.stored_positions`) changes these here: they count, and the group's do not. It may be called
        again with the same offsets.

        Args:
            config: The connector's configuration.
            offsets: New offsets; None means forget it. None at all ask to forget all: they are reset, and the
                group knows of none.

        Returns:
            True when the connector knows that the new offsets work.

        Raises:
            ConnectError: They would not work; they are not stored.
            OffsetsUnmodifiableError: This connector's offsets cannot be changed by a user, whatever they are.
        """
        del config, offsets
        return False


@dataclass(frozen=True, slots=True)
class OffsetMove:
    """A source partition that would go from one offset to another."""

    partition: SourcePartition
    """The source partition."""
    before: SourceOffset | None
    """Its offset now; None where it has none, and begins at its start."""
    after: SourceOffset | None
    """The offset it would have; None: it would begin at its start."""


@dataclass(frozen=True, slots=True)
class OffsetEffect:
    """What a move would do; where the count is not exact, the most that it can be."""

    repeated: int | None
    """How much would be delivered once more; None when that is unknown."""
    skipped: int | None
    """How much would never be delivered; None when that is unknown."""
    unit: str = "records"
    """What is counted, in the plural."""
