"""The object sink on real stores: killed after any call, beside its successor, and with several files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pytest
from copycat_connect.data import ConnectValue
from copycat_connect.plugin import CONNECTORS, PluginSpec, load_plugins
from copycat_testkit.conformance import ExactlyOnceSinkConformance, SinkConformance
from copycat_testkit.conformance.exactly_once_sink import CALLS
from copycat_testkit.hdfs import Hdfs
from copycat_testkit.s3 import S3Server
from copycat_testkit.sampling import sampled

from tests.integration.stores.sinks import (
    COUNTRIES,
    PARTITION,
    batch,
    content,
    place_in_hdfs,
    place_in_s3,
    row,
    rows,
    start,
    store_at,
)

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

SPEC = load_plugins().find("ObjectSink", CONNECTORS)


class _OnAServer(ExactlyOnceSinkConformance):
    """JSON lines, a file for each record."""

    place: Mapping[str, str]

    def spec(self) -> PluginSpec:
        return SPEC

    def config(self) -> Mapping[str, str]:
        return {"topics": "conformance", "flush.size": "1", **self.place}

    def value(self, number: int) -> ConnectValue:
        return {"number": number, "text": "é😀"}

    def written(self) -> Sequence[ConnectValue]:
        found = content(store_at(self.place), "topics/conformance/partition=0")
        return [json.loads(line) for path in sorted(found) for line in found[path].splitlines()]

    @pytest.mark.parametrize("last", sampled(range(CALLS), keep=4))
    def test_killed_between_any_two_calls_it_resumes_without_loss_or_repetition(self, last: int) -> None:
        """All calls are tried in a folder (`tests/conformance`); here most of them in the long run only."""
        super().test_killed_between_any_two_calls_it_resumes_without_loss_or_repetition(last)


class TestOnHdfs(_OnAServer):
    @pytest.fixture(autouse=True)
    def _use(self, hdfs: Hdfs) -> None:
        self.place = place_in_hdfs(hdfs)


class TestOnS3(_OnAServer):
    @pytest.fixture(autouse=True)
    def _use(self, s3: S3Server) -> None:
        self.place = place_in_s3(s3)


class TestPublishedS3(SinkConformance):
    """Objects appear in their place, and the consumer group says where to go on."""

    @pytest.fixture(autouse=True)
    def _use(self, s3: S3Server) -> None:
        self.place = place_in_s3(s3)

    def spec(self) -> PluginSpec:
        return load_plugins().find("S3Sink", CONNECTORS)

    def config(self) -> Mapping[str, str]:
        return {"topics": "conformance", "flush.size": "1", "format.class": "json", **self.place}

    def value(self, number: int) -> ConnectValue:
        return {"number": number}

    def written(self) -> Sequence[ConnectValue]:
        found = content(store_at(self.place), "topics/conformance/partition=0")
        return [json.loads(line) for path in sorted(found) for line in found[path].splitlines()]


@pytest.fixture(params=["folder", "hdfs", "s3"])
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    match request.param:
        case "folder":
            return {"store.url": tmp_path_factory.mktemp("sink").as_uri()}
        case "hdfs":
            return place_in_hdfs(request.getfixturevalue("hdfs"))
    return place_in_s3(request.getfixturevalue("s3"))


@pytest.mark.parametrize("kind", ["json", "avro", "parquet"])
def test_files_of_several_folders_appear_together_and_a_new_task_goes_on(
    place: Mapping[str, str], kind: str
) -> None:
    config = {
        **place,
        "format.class": kind,
        "flush.size": "6",
        "partitioner.class": "field",
        "partition.field.name": "country",
    }
    store = store_at(place)
    task, _ = start(config)
    task.put(batch(range(10)))
    assert not content(store, "topics/orders"), "nothing is seen before it is complete"
    assert task.pre_commit({PARTITION: 10}) == {PARTITION: 6}
    task.close([PARTITION])
    task.stop()
    task, context = start(config)
    assert context.seeks == {PARTITION: 6}
    task.put(batch(range(4, 12)))
    assert task.pre_commit({PARTITION: 12}) == {PARTITION: 12}
    task.close([PARTITION])
    task.stop()
    found = {path: rows(path, data) for path, data in content(store, "topics/orders").items()}
    assert found == {
        f"topics/orders/country={name or 'null'}/orders+3+{first:010d}+{first + 3:010d}.{kind}": [
            row(first), row(first + 3)
        ]
        for start_ in (0, 6)
        for first, name in zip(range(start_, start_ + 3), COUNTRIES, strict=True)
    }  # fmt: skip
    assert not content(store, "topics/+tmp"), "nothing is left behind"


def test_without_a_commit_log_the_names_of_files_say_where_to_go_on(place: Mapping[str, str]) -> None:
    config = {
        **place, "flush.size": "2", "partitioner.class": "daily", "timezone": "UTC",
        "timestamp.extractor": "Record",
    }  # fmt: skip
    store = store_at(place)
    task, _ = start(config)
    task.put(batch(range(23, 25)))
    task.pre_commit({PARTITION: 25})
    task.stop()
    assert sorted(content(store, "topics/orders")) == [
        "topics/orders/year=1970/month=01/day=01/orders+3+0000000023+0000000023.json",
        "topics/orders/year=1970/month=01/day=02/orders+3+0000000024+0000000024.json",
    ]
    for path in content(store, "logs"):
        store.delete(path)
    task, context = start(config)
    assert context.seeks == {PARTITION: 25}
    task.stop()


def test_records_that_a_user_goes_back_to_replace_their_files(place: Mapping[str, str]) -> None:
    config = {**place, "flush.size": "2"}
    store = store_at(place)
    for _ in range(2):
        task, _ = start(config)
        task.put(batch(range(4)))
        assert task.pre_commit({PARTITION: 4}) == {PARTITION: 4}
        task.stop()
        whole = {"name": "export", "topics": "orders", **config}
        assert SPEC.make().alter_offsets(whole, {PARTITION: 0})
    found = content(store, "topics/orders")
    assert [json.loads(line) for path in sorted(found) for line in found[path].splitlines()] == [
        row(number) for number in range(4)
    ]
