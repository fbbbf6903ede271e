"""One end of every connector is Kafka: it brings records into topics or takes them out of topics (KIP-26)."""

from __future__ import annotations

import pytest
from copycat_connect.plugin import (
    CONNECTORS,
    PluginKind,
    PluginSpec,
    SinkConnector,
    SourceConnector,
    load_plugins,
)

KINDS = {PluginKind.SOURCE: SourceConnector, PluginKind.SINK: SinkConnector}
SPECS = [spec for spec in load_plugins().all() if spec.kind in CONNECTORS]


@pytest.mark.row("K26-01")
def test_there_are_sources_and_sinks_and_no_third_kind_of_connector() -> None:
    assert {kind for kind in PluginKind if kind.is_connector} == set(KINDS) == set(CONNECTORS)


@pytest.mark.row("K26-01")
@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.class_name)
def test_a_connector_is_a_source_or_a_sink_and_never_both(spec: PluginSpec) -> None:
    made = spec.make()
    assert [kind for kind, base in KINDS.items() if isinstance(made, base)] == [spec.kind]
