"""What the REST interface answers, field by field: the gateway encodes these structs, clients decode them.

Fields are sent in the order in which they stand here. What is UNSET is not sent: there is nothing to say,
or Apache Kafka Connect answers and the field is one of those that Copycat adds. The version of a plugin that
it cannot load is null there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from copycat_connect.cluster import Config
from msgspec import UNSET, Struct, UnsetType, field

JsonObject: TypeAlias = Mapping[str, Any]  # of a connector's own making
OptionalText: TypeAlias = str | UnsetType


class ErrorMessage(Struct, frozen=True):
    """The answer to every request that fails."""

    error_code: int
    message: str


class Message(Struct, frozen=True):
    """What was done, in a sentence."""

    message: str


class ServerInfo(Struct, frozen=True):
    """The Kafka release whose interface this is, the Kafka cluster, and Copycat's own version."""

    version: str
    commit: str
    kafka_cluster_id: str | None
    copycat_version: str
    copycat_commit: str


# Connectors and tasks.


class TaskId(Struct, frozen=True):
    """A task, by its connector and its number from 0."""

    connector: str
    task: int


class ConnectorInfo(Struct, frozen=True):
    """A connector: configuration, tasks, and whether it is a source, a sink, or unknown."""

    name: str
    config: Config
    tasks: Sequence[TaskId]
    type: str


class TaskInfo(Struct, frozen=True):
    """A task with its configuration."""

    id: TaskId
    config: Config


# What they do.


class ConnectorState(Struct, frozen=True):
    """What a connector does, where, with which version of its plugin, and why it failed.

    Copycat adds since when (ISO 8601, UTC), the generation of its assignment, why it is not plainly RUNNING.
    """

    state: str
    worker_id: str
    version: OptionalText | None = UNSET
    trace: OptionalText = UNSET
    since: OptionalText = UNSET
    generation: int | UnsetType = UNSET
    reason: OptionalText = UNSET


class TaskState(Struct, frozen=True):
    """What a task does; its fields are those of its connector's state."""

    id: int
    state: str
    worker_id: str
    version: OptionalText | None = UNSET
    trace: OptionalText = UNSET
    since: OptionalText = UNSET
    generation: int | UnsetType = UNSET
    reason: OptionalText = UNSET


class TaskDetail(TaskInfo, frozen=True):
    """A task with its configuration and, once it reported, its status; Kafka Connect has no such resource."""

    status: TaskState | UnsetType = UNSET


class Health(Struct, frozen=True):
    """A connector summed up: healthy, degraded or failed, and why it is not healthy."""

    state: str
    reason: OptionalText = UNSET


class ConnectorStateInfo(Struct, frozen=True):
    """A connector's status and those of its tasks, by index; Apache Kafka Connect does not sum it up."""

    name: str
    connector: ConnectorState
    tasks: Sequence[TaskState]
    type: str
    health: Health | UnsetType = UNSET


class Expanded(Struct, frozen=True):
    """The parts of a connector that were asked for."""

    status: ConnectorStateInfo | UnsetType = UNSET
    info: ConnectorInfo | UnsetType = UNSET


class ActiveTopics(Struct, frozen=True):
    """The topics of one connector."""

    topics: Sequence[str]


# Offsets.


class PartitionOffset(Struct, frozen=True):
    """One partition with its offset."""

    partition: JsonObject
    offset: JsonObject


class ConnectorOffsets(Struct, frozen=True):
    """The offsets of a connector."""

    offsets: Sequence[PartitionOffset]


class Effect(Struct, frozen=True):
    """What the change of one partition does; counts are the most that it can be, null where unknown."""

    repeated: int | None
    skipped: int | None
    unit: str
    text: str


class LastPartition(Struct, frozen=True):
    """One partition that a change moved, with its offset before and after."""

    partition: JsonObject
    before: JsonObject | None
    after: JsonObject | None


class Moved(LastPartition, frozen=True):
    """One partition, its offset before and after, and what that does."""

    effect: Effect


class OffsetsEffect(Struct, frozen=True):
    """What a change of offsets does, or did."""

    dry_run: bool
    message: str
    time: str | None
    notes: Sequence[str]
    offsets: Sequence[Moved]


class LastChange(Struct, frozen=True):
    """The last change that a user made."""

    changed_at: str
    undone_at: str | None
    kind: str
    offsets: Sequence[LastPartition]


class Remembered(Struct, frozen=True):
    """The last change; null where none is remembered."""

    change: LastChange | None


# The past.


class ChangedBy(Struct, frozen=True):
    """Who asked for a change: a user, something automatic, or unknown."""

    type: str
    name: str | None
    address: str | None


class ShownChange(Struct, frozen=True):
    """One change.

    `partition` is there for commits. Before and after are a configuration, a target state, a status or an
    offset, null where there was none; `about` is what else there is to say of acts and changes of offsets.
    `omitted`: the fact was too large to be kept.
    """

    id: str
    time: str
    kind: str
    what: str
    by: ChangedBy
    task: int | UnsetType = UNSET
    partition: JsonObject | UnsetType = UNSET
    before: Any = UNSET
    after: Any = UNSET
    about: Any = UNSET
    omitted: bool | UnsetType = UNSET
    reason: OptionalText = UNSET
    trace_id: OptionalText = UNSET


class History(Struct, frozen=True):
    """Changes of a connector, newest first; `next` is what `before` asks for the page after this one."""

    connector: str
    changes: Sequence[ShownChange]
    next: str | None


# Plugins.


class PluginInfo(Struct, frozen=True):
    """A plugin that can be loaded."""

    class_name: str = field(name="class")
    type: str
    version: OptionalText | None = UNSET


class UnloadablePluginInfo(Struct, frozen=True):
    """A plugin that is installed where a worker runs and cannot be loaded there."""

    package: str
    package_version: str
    entry_point: str
    reason: str


class ConfigKeyInfo(Struct, frozen=True):
    """The definition of a config key."""

    name: str
    type: str
    required: bool
    default_value: str | None
    importance: str
    documentation: str
    group: str | None
    width: str
    display_name: str
    dependents: Sequence[str]
    order_in_group: int | UnsetType = UNSET
    """Not sent under this name by Apache Kafka Connect before 4.2."""


class ConfigValueInfo(Struct, frozen=True):
    """What validation found about one key."""

    name: str
    value: str | None
    recommended_values: Sequence[str]
    errors: Sequence[str]
    visible: bool


class ConfigInfo(Struct, frozen=True):
    """One key with its definition, null where nobody defines it."""

    definition: ConfigKeyInfo | None
    value: ConfigValueInfo


class ConfigInfos(Struct, frozen=True):
    """What validation found: how many errors in all, and each key with its value and errors."""

    name: str
    error_count: int
    groups: Sequence[str]
    configs: Sequence[ConfigInfo]


# Workers.


class HeldInstance(Struct, frozen=True, kw_only=True):
    """A connector, or one of its tasks, that a worker holds."""

    connector: str
    task: int | UnsetType = UNSET
    generation: int


class WorkerInfo(Struct, frozen=True):
    """A live worker and all it holds."""

    worker_id: str
    leaving: bool
    held: Sequence[HeldInstance]


class LoggerInfo(Struct, frozen=True):
    """A logger's level, and when it was set, in milliseconds; null where nobody did."""

    level: str
    last_modified: int | None = None
