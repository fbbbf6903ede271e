"""The conversations with the processes that have the code of connectors.

One process, the template, loads the plugins. Its first line is `BeginConnectors`; it names each plugin before
it loads it, says which it could not load, and that it is ready. From then on it makes copies of itself. Each
copy has a connection of its own: it says that it is ready, and replies to each `Ask`, in any order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Generic, TypeAlias

from copycat_connect.plugin.row_query import QueryText, StateQuery

from copycat_executor.domain.running import UsedPlugin
from copycat_executor.pipes.lines import LineReader
from copycat_executor.pipes.messages import (
    Answer,
    Ask,
    Call,
    Failure,
    Ping,
    PipeMessage,
    Ready,
    Refusal,
    SetLevel,
    StageReached,
    T,
    UnreadResult,
)
from copycat_executor.pipes.plugin_facts import KeyDefinition, PluginListing, ValidationFacts


class BeginConnectors(PipeMessage, frozen=True):
    """The first line to a new template."""

    worker: Mapping[str, str]
    """The worker's properties."""
    failed_plugins: Mapping[str, str]
    """Plugins not to load, by entry point, and why: they ended or held up a process before this one."""
    late_plugins: tuple[str, ...] = ()
    """Plugins that each copy loads for itself, by entry point: they start threads, which copies lack."""
    connections: int = -1
    """File descriptor of the socket on which the connections of copies come."""


class MakeCopy(Call[None], frozen=True):
    """Has the template make a copy of itself, which a `CopyMade` reports before the answer."""

    number: int
    """Comes with the connection as well, as text: one that nobody waits for any more is passed over."""


class CopyMade(PipeMessage, frozen=True):
    """There is a copy."""

    number: int
    """As in `MakeCopy`."""
    pid: int


class CopyEnded(PipeMessage, frozen=True):
    """A copy has ended."""

    pid: int
    code: int
    """Its exit code; of a signal that ended it, the negative number."""


class PluginStartsThreads(PipeMessage, frozen=True):
    """Loading a plugin started threads: this template ends, and the next one leaves it to the copies."""

    entry_point: str


class ConnectorCall(Call[T], Generic[T], frozen=True):
    """A call that runs author code of connectors, or looks at it."""


class StartConnector(ConnectorCall[UsedPlugin], frozen=True):
    """Makes a connector's object and starts it; answers with the plugin it is made by."""

    incarnation: int
    """Names the object from now on; never used twice."""
    config: Mapping[str, str | None]


class MakeTaskConfigs(ConnectorCall[Sequence[Mapping[str, str | None]]], frozen=True):
    """Has a started connector divide its work; answers with task configurations without resolved secrets."""

    incarnation: int
    max_tasks: int


class StopConnector(ConnectorCall[None], frozen=True):
    """Stops a connector's object, which is then forgotten."""

    incarnation: int


class QuestionCall(ConnectorCall[T], Generic[T], frozen=True):
    """A call that needs no connector that runs."""


class FindPlugin(QuestionCall[UsedPlugin], frozen=True):
    """Answers with the plugin of a configuration, without making anything."""

    config: Mapping[str, str | None]


class ListPlugins(QuestionCall[PluginListing], frozen=True):
    """Lists what is installed."""


class DescribeKeys(QuestionCall[tuple[KeyDefinition, ...]], frozen=True):
    """Answers with the configuration keys of a plugin."""

    plugin: str
    """Class name or alias."""
    version: str | None
    """A version or a range that must fit the installed one; None for whichever is installed."""


class ValidateConfig(QuestionCall[ValidationFacts], frozen=True):
    """Validates a connector's configuration as Kafka Connect's REST API does."""

    config: Mapping[str, str | None]


class ProposedOffset(PipeMessage, frozen=True):
    """Where a source partition is to continue."""

    partition: str
    """JSON."""
    offset: str | None
    """JSON; None to forget the partition's offset."""


class SinkOffset(PipeMessage, frozen=True):
    """Where a topic partition is to be continued from."""

    topic: str
    partition: int
    offset: int | None
    """None to forget it."""


class AlterOffsets(QuestionCall[bool], frozen=True):
    """Calls a connector's `alter_offsets` hook and answers with what it returns."""

    config: Mapping[str, str | None]
    source: tuple[ProposedOffset, ...]
    """For a source connector, else empty."""
    sink: tuple[SinkOffset, ...]
    """For a sink connector, else empty."""


class ProposedMove(PipeMessage, frozen=True):
    """Where a source partition is, and where it would be."""

    partition: str
    """JSON."""
    before: str | None
    """JSON; None where there is no offset."""
    after: str | None
    """JSON; None where there would be no offset."""


class ProposedEffect(PipeMessage, frozen=True):
    """What a move would do, as far as the connector knows."""

    repeated: int | None
    skipped: int | None
    unit: str
    """What is counted."""


class ExplainOffsets(QuestionCall[tuple[ProposedEffect | None, ...] | None], frozen=True):
    """Asks a source connector what moves would do; answers with None where it knows nothing."""

    config: Mapping[str, str | None]
    moves: tuple[ProposedMove, ...]


class FindOffsets(QuestionCall[tuple[ProposedOffset, ...] | None], frozen=True):
    """Asks a source connector for its offsets of a time; answers with None where it cannot find any."""

    config: Mapping[str, str | None]
    offsets: tuple[ProposedOffset, ...]
    """Those of now."""
    time: int
    """Milliseconds since the epoch."""


class AbandonConnector(PipeMessage, frozen=True):
    """Gives a connector's object up: it is not heard any more, and stopped if its code ever comes back."""

    incarnation: int


class QueryChecked(PipeMessage, frozen=True):
    """Answers a `QueryAsked` or a `RowTextAsked`."""

    number: int
    schema: str
    """Columns of the query's rows in DDL; empty when it is refused, or nobody knows them yet."""
    error: str
    """Why it is refused; empty when it is not."""
    error_code: str
    """Name of the error's code; empty when there is no error."""


class PluginLoading(PipeMessage, frozen=True):
    """A plugin is loaded now: if the process ends or is silent for long, that plugin is to blame."""

    entry_point: str


class PluginsLoaded(PipeMessage, frozen=True):
    """All plugins are loaded but these."""

    failed: Mapping[str, str]
    """Why, by entry point."""
    on_spark: tuple[str, ...] = ()
    """The names of connectors whose records Spark reads, aliases among them."""


class ProcessEnds(PipeMessage, frozen=True):
    """The process is about to end for the sake of these authors (`domain.author`)."""

    authors: tuple[str, ...]


class ReconfigurationWanted(PipeMessage, frozen=True):
    """A connector wants its work to be divided again."""

    incarnation: int


class ConnectorFailed(PipeMessage, frozen=True):
    """A connector failed outside of a call."""

    incarnation: int
    failure: Failure


class ConnectorWaits(PipeMessage, frozen=True):
    """A connector waits for something that its source lacks."""

    incarnation: int
    reason: str
    """For what, without secrets; empty when it waits no longer."""


class SecretsExpired(PipeMessage, frozen=True):
    """Values that config providers gave to a connector do not count any more."""

    incarnation: int


class QueryAsked(PipeMessage, frozen=True):
    """A validation wants a query to be checked by the query engine."""

    number: int
    """The `QueryChecked` bears the same one."""
    sql: str
    columns: str
    """Of the records, in DDL."""


class RowTextAsked(PipeMessage, frozen=True):
    """A validation wants a query over rows that are not known yet to be checked, or an expression in one."""

    number: int
    """The `QueryChecked` bears the same one."""
    text: str
    kind: QueryText
    repeatable: bool
    """Whether it has to give the same each time."""
    tables: tuple[str, ...]
    """What it may join, whose columns nobody knows."""
    state: StateQuery | None
    """What else is known of a query with state, if that is."""


AnyConfigQuestion: TypeAlias = FindPlugin | ValidateConfig | AlterOffsets | ExplainOffsets | FindOffsets
"""What is asked about a configuration."""
AnyConnectorCall: TypeAlias = (
    Ping | StartConnector | MakeTaskConfigs | StopConnector | ListPlugins | DescribeKeys | AnyConfigQuestion
)
ConnectorOrder: TypeAlias = AbandonConnector | QueryChecked | SetLevel
"""What is sent to a copy without a reply."""
ToConnectors: TypeAlias = Ask[AnyConnectorCall] | ConnectorOrder

ConnectorEvent: TypeAlias = (
    ReconfigurationWanted | ConnectorFailed | ConnectorWaits | SecretsExpired | QueryAsked | RowTextAsked
)
ProcessEvent: TypeAlias = ProcessEnds | ConnectorEvent
FromConnectors: TypeAlias = ProcessEvent | Ready | Answer[UnreadResult] | Refusal | StageReached

ToTemplate: TypeAlias = Ask[Ping | MakeCopy]
TemplateEvent: TypeAlias = PluginLoading | PluginsLoaded | PluginStartsThreads | CopyMade | CopyEnded
FromTemplate: TypeAlias = TemplateEvent | Ready | Answer[UnreadResult] | Refusal | StageReached

FIRST_LINE: LineReader[BeginConnectors] = LineReader(BeginConnectors)
TO_CONNECTORS: LineReader[ToConnectors] = LineReader(ToConnectors)
FROM_CONNECTORS: LineReader[FromConnectors] = LineReader(FromConnectors)
TO_TEMPLATE: LineReader[ToTemplate] = LineReader(ToTemplate)
FROM_TEMPLATE: LineReader[FromTemplate] = LineReader(FromTemplate)
