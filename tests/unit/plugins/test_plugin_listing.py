"""What is said of plugins before one is made: their kinds, their pages, and the listing of all of them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

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

from tools.plugin_pages import pages

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


LIBRARIES = (
    "avro", "boto3", "botocore", "confluent_kafka", "fastavro", "google", "grpc", "grpc_tools", "httpx2",
    "jsonschema", "numpy", "psycopg", "pyarrow", "pymysql", "pyspark", "referencing", "requests",
    "sqlalchemy",
)  # fmt: skip


def test_listing_plugins_loads_none_of_their_libraries() -> None:
    script = (
        "import sys; from copycat_connect.plugin import load_plugins; load_plugins(); "
        f"print([name for name in {LIBRARIES!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_every_page_is_up_to_date() -> None:
    written = {_name(file): file.read_text("utf-8") for file, _ in pages()}
    assert written == {_name(file): text for file, text in pages()}
    assert {"file_stream_source", "file_stream_sink", "python_function", "CONNECTORS"} <= written.keys()


@pytest.mark.row("K26-56")
def test_every_connector_says_what_it_promises_and_what_it_is_tested_against() -> None:
    ours = [
        each for each in load_plugins().all() if each.task_class_name and each.module.startswith("copycat_")
    ]
    assert len(ours) > 10
    silent = [
        each.class_name for each in ours if not (each.guarantees and each.tested_with and each.examples)
    ]
    assert not silent


def _name(file: Path) -> str:
    return file.parent.name if file.stem == "README" else file.stem
