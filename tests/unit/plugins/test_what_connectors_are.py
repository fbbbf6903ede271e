"""One end of every connector is Kafka: it brings records into topics or takes them out of topics (KIP-26)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from copycat_connect.data import TopicPartition
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


class PlainSource(SourceConnector):
    """Has only what every connector must have."""

    def start(self, config: Mapping[str, str]) -> None: ...

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return []

    def stop(self) -> None: ...


class PlainSink(SinkConnector):
    """The same."""

    start, task_configs, stop = PlainSource.start, PlainSource.task_configs, PlainSource.stop


@pytest.mark.row("K875-45", "K875-46")
def test_a_connector_does_not_handle_its_offsets_unless_it_says_so() -> None:
    assert PlainSource().alter_offsets({}, [({"f": 1}, {"p": 1}), ({"f": 2}, None)]) is False
    assert PlainSink().alter_offsets({}, {TopicPartition("t", 0): 1, TopicPartition("t", 1): None}) is False


@pytest.mark.row("K26-01")
@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.class_name)
def test_a_connector_is_a_source_or_a_sink_and_never_both(spec: PluginSpec) -> None:
    made = spec.make()
    assert [kind for kind, base in KINDS.items() if isinstance(made, base)] == [spec.kind]
