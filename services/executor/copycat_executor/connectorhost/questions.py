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
from copycat_telemetry.context import keep_secret

from copycat_executor.connectorhost.lines import LineWriter
from copycat_executor.connectorhost.plugin_answers import identity, key_definition, listing, validation
from copycat_executor.connectorhost.secrets import Resolved
from copycat_executor.connectorhost.surroundings import Surroundings

# Kafka Connect's stage texts: they say what a request that ran out of time was waiting for.
RESOLVING = "resolving transformed configuration properties for the connector"
DEFINING = "retrieving the configuration definition from the connector"
ALTERING = "modifying offsets for connector"


class Question:
    """One call, answered in a thread of its own."""

    def __init__(self, surroundings: Surroundings, request: Mapping[str, Any], out: LineWriter) -> None:
        self._around = surroundings
        self._request = request
        self._out = out
        self._config = Resolved({}, {})

    def scrub(self, text: str) -> str:
        """Take secrets out of a text."""
        return self._config.scrub(text)

    def answer(self) -> Any:  # noqa: ANN401 - JSON
        """Return the answer as JSON; author code may raise anything."""
        keep_secret(self.scrub)
        match self._request["call"]:
            case "plugins":
                return listing(self._around.plugins)
            case "plugin_keys":
                return self._keys(self._request["plugin"], self._request["version"])
            case "validate":
                return self._validate()
            case "plugin":
                return identity(connector_plugin(self._resolve().values, self._around.plugins))
            case "alter_offsets":
                return self._alter_offsets()
            case unknown:
                message = f"there is no call {unknown}"
                raise ValueError(message)

    def _keys(self, name: str, wanted: str | None) -> list[dict[str, Any]]:
        version_range(wanted)  # a malformed range is refused before an unknown plugin, as in Kafka Connect
        spec = self._around.plugins.find(name)
        self._around.plugins.check_version(spec, wanted)
        if spec.kind not in LISTED:
            raise UnlistedPluginError(name)
        return [key_definition(key, key.name) for key in plugin_keys(spec)]

    def _validate(self) -> dict[str, Any]:
        config = self._resolve()
        self._stage(DEFINING)
        spec = connector_plugin(config.values, self._around.plugins)
        found = validate_connector(
            config.values,
            spec,
            self._around.plugins,
            WorkerRules.of(self._around.worker),
            spec.factory(),
            report_stage=self._stage,
            context=self._around.queries,
        )
        return validation(found, spec, config)

    def _alter_offsets(self) -> bool:
        config = self._resolve()
        spec = connector_plugin(config.values, self._around.plugins)
        self._stage(f"{ALTERING} {config.raw.get('name')}")
        connector = spec.factory()
        if spec.kind is PluginKind.SINK:
            positions = {
                TopicPartition(topic, number): offset for topic, number, offset in self._request["sink"]
            }
            return bool(connector.alter_offsets(config.given(), positions))
        offsets = [
            (_from_json(partition), _from_json(offset)) for partition, offset in self._request["source"]
        ]
        return bool(connector.alter_offsets(config.given(), offsets))

    def _resolve(self) -> Resolved:
        self._stage(RESOLVING)
        self._config = Resolved.of(self._request["config"], self._around.placeholders)
        return self._config

    def _stage(self, stage: str) -> None:
        began = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self._out.write({"id": self._request["id"], "stage": stage, "began": began})


def _from_json(text: str | None) -> Any:  # noqa: ANN401 - a connector's own JSON
    return None if text is None else json.loads(text)
