"""Folders of files that SparkSink writes in HDFS and S3: each record once, whatever change is the last."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from copycat_objects.spark_sink.settings import SparkSinkSettings
from copycat_objects.stores.store import Store
from copycat_testkit.hdfs import Hdfs
from copycat_testkit.kafka import unique
from copycat_testkit.s3 import S3Server

from tests.integration.stores.sinks import place_in_hdfs, place_in_s3
from tests.unit.plugins.objects.sink_tables import ParquetSinkFiles
from tests.watched_store import KilledError, killer

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]


class _StoredFiles(ParquetSinkFiles):
    """Files in a store that a configuration names."""

    def __init__(self, root: Path, place: Mapping[str, str]) -> None:
        super().__init__(root, "word")
        self._store = SparkSinkSettings.parse({"format": "parquet", **place}).open_store()

    def plain_store(self) -> Store:
        """Return the store, opened as the connector does."""
        return self._store


def _in_s3(s3: S3Server) -> dict[str, str]:
    place = place_in_s3(s3)
    return {**place, "store.url": f"s3://{place['s3.bucket.name']}/{unique('sink')}", "s3.endpoint": s3.url}


def _check_kills(files: _StoredFiles, step: int) -> None:
    """Have a task killed at a change, and others go on."""
    files.watch = killer(step)
    with pytest.raises(KilledError):
        files.run(2, 5)
    files.watch = None
    files.run(2, 5, 6)
    assert files.seen() == [*range(6)], f"killed at change {step}"
    files.commits()
    assert files.staged() == []


@pytest.mark.parametrize("step", range(2, 28, 4))
def test_in_hdfs(tmp_path: Path, hdfs: Hdfs, step: int) -> None:
    _check_kills(_StoredFiles(tmp_path, place_in_hdfs(hdfs)), step)


@pytest.mark.parametrize("step", range(2, 22, 4))
def test_in_s3(tmp_path: Path, s3: S3Server, step: int) -> None:
    _check_kills(_StoredFiles(tmp_path, _in_s3(s3)), step)
