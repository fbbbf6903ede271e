"""A REST extension that shows over REST what it learns about the cluster."""

from __future__ import annotations

import json
from dataclasses import asdict

from copycat_connect.config import ConfigDef
from copycat_connect.plugin import (
    ClusterState,
    PluginKind,
    PluginSpec,
    RestAnswer,
    RestExtension,
    RestExtensionContext,
    RestRequest,
)

ROOT = "/integration-test-rest-extension"


class IntegrationTestRestExtension(RestExtension):
    """Answers below a path of its own."""

    def register(self, context: RestExtensionContext) -> None:
        """Add the resources."""
        self.cluster: ClusterState = context.cluster_state
        context.add_resource("GET", f"{ROOT}/registered", lambda _: RestAnswer(200, "true"))
        context.add_resource("GET", f"{ROOT}/cluster", self.tell_cluster)
        context.add_resource("GET", f"{ROOT}/connectors/{{name}}", self.tell_connector)

    def tell_cluster(self, _: RestRequest) -> RestAnswer:
        """Tell what is known about the cluster."""
        details = asdict(self.cluster.cluster_details())
        return RestAnswer(200, json.dumps({"connectors": self.cluster.connectors(), **details}))

    def tell_connector(self, request: RestRequest) -> RestAnswer:
        """Tell what is known about a connector."""
        name = request.parameters["name"]
        health, config = self.cluster.connector_health(name), self.cluster.connector_config(name)
        return RestAnswer(200, json.dumps({"health": asdict(health), "config": dict(config)}))


PLUGIN = PluginSpec(
    class_name="org.apache.kafka.connect.integration.IntegrationTestRestExtension",
    kind=PluginKind.REST_EXTENSION,
    version="1.0",
    summary="Tells what it is told.",
    config=ConfigDef(),
    factory=IntegrationTestRestExtension,
)
