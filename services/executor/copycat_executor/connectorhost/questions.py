"""Calls that need no running connector: listings, validation, the alterOffsets hook."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from copycat_connect.cluster import TopicPartition
from copycat_connect.plugin.errors import UnlistedPluginError
from copycat_connect.plugin.spec import LISTED, PluginKind
from copycat_connect.plugin.versions import version_range
from copycat_connect.validation import WorkerRules, connector_plugin, plugin_keys, validate_connector
from copycat_telemetry.context import log_context

from copycat_executor.connectorhost.author_thread import AuthorThread, Job
from copycat_executor.connectorhost.plugin_answers import identity, key_definition, listing, validation
from copycat_executor.connectorhost.resources import ConnectorResources
from copycat_executor.connectorhost.secrets import Resolved
from copycat_executor.domain.running import UsedPlugin
from copycat_executor.pipes.authors import tag_of
from copycat_executor.pipes.child import LineWriter
from copycat_executor.pipes.connector_messages import AlterOffsets
from copycat_executor.pipes.messages import StageReached
from copycat_executor.pipes.plugin_facts import KeyDefinition, PluginListing, ValidationFacts

# Kafka Connect's stage texts: they say what a request that ran out of time was waiting for.
RESOLVING = "resolving transformed configuration properties for the connector"
DEFINING = "retrieving the configuration definition from the connector"
ALTERING = "modifying offsets for connector"


class AuthorQuestion:
    """One call, answered in a thread of its own; author code may raise anything."""

    def __init__(
        self, resources: ConnectorResources, number: int, authors: tuple[str, ...], out: LineWriter
    ) -> None:
        """Keep the call's number, whose code answers it, and where its stages are reported."""
        self._resources = resources
        self._number = number
        self._out = out
        self._config = Resolved({}, {})
        self.authors = authors
        tag = tag_of(authors[0]) if authors else "questions"
        self.thread = AuthorThread(f"call-{number}", tag, _nothing)

    def answer(self, job: Job) -> None:
        """Run the job that answers it; its thread ends with it."""
        self.thread.submit(job)
        self.thread.end()

    def processor_seconds(self) -> float:
        """Return how much processor time its thread has used."""
        return self.thread.processor_seconds()

    def interrupt(self, error: type[BaseException]) -> None:
        """Raise an error in what it does now."""
        self.thread.interrupt(error)

    def raise_error(self, error: BaseException) -> None:
        """Do nothing: whoever asked hears of the end of the process."""

    def scrub(self, text: str) -> str:
        """Remove secrets from a text."""
        return self._config.scrub_refusal(text)

    def plugins(self) -> PluginListing:
        """List what is installed."""
        return listing(self._resources.plugins)

    def keys(self, name: str, wanted: str | None) -> tuple[KeyDefinition, ...]:
        """Describe the keys of a plugin whose version must be as wanted."""
        version_range(wanted)  # a malformed range is refused before an unknown plugin, as in Kafka Connect
        plugins = self._resources.plugins
        spec = plugins.find(name)
        plugins.check_version(spec, wanted)
        if spec.kind not in LISTED:
            raise UnlistedPluginError(name)
        return tuple(key_definition(key, key.name) for key in plugin_keys(spec))

    def plugin_of(self, written: Mapping[str, str | None]) -> UsedPlugin:
        """Find the plugin of a configuration."""
        return identity(connector_plugin(self._resolve(written).values, self._resources.plugins))

    def validate(self, written: Mapping[str, str | None]) -> ValidationFacts:
        """Validate a configuration by the framework's rules and by the connector itself."""
        config = self._resolve(written)
        self._stage(DEFINING)
        spec = connector_plugin(config.values, self._resources.plugins)
        found = validate_connector(
            config.values,
            spec,
            self._resources.plugins,
            WorkerRules.of(self._resources.worker),
            spec.make(),
            report_stage=self._stage,
            context=self._resources.queries,
            check_row_text=self._resources.queries.check,
        )
        return validation(found, spec, config)

    def alter_offsets(self, wanted: AlterOffsets) -> bool:
        """Call a connector's hook."""
        kind, connector, given = self.connector(wanted.config, ALTERING)
        if kind is PluginKind.SINK:
            positions = {TopicPartition(each.topic, each.partition): each.offset for each in wanted.sink}
            return bool(connector.alter_offsets(given, positions))
        offsets = [(from_json(each.partition), from_json(each.offset)) for each in wanted.source]
        return bool(connector.alter_offsets(given, offsets))

    def connector(
        self, written: Mapping[str, str | None], stage: str
    ) -> tuple[PluginKind, Any, Mapping[str, str]]:
        """Make the connector of a configuration, which is not started, with what it is configured to."""
        config = self._resolve(written)
        spec = connector_plugin(config.values, self._resources.plugins)
        self._stage(f"{stage} {config.raw.get('name')}")
        return spec.kind, spec.make(), config.given()

    def _resolve(self, written: Mapping[str, str | None]) -> Resolved:
        if name := written.get("name"):
            log_context.set({"connector": name})  # for the threads that author code starts, too
        self._stage(RESOLVING)
        self._config = Resolved.of(written, self._resources.placeholders)
        return self._config

    def _stage(self, stage: str) -> None:
        began = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self._out.write(StageReached(self._number, stage, began))


def _nothing() -> None:
    """Prepare nothing: what is asked says whose code it is."""


def from_json(text: str | None) -> Any:  # noqa: ANN401 - a connector's own JSON
    """Return a partition or an offset as connectors take it."""
    return None if text is None else json.loads(text)
