"""A store that is full heals: the failure of its sinks is one that passes once there is room."""

from __future__ import annotations

import errno
import os
from importlib import import_module
from pathlib import Path

import pytest
from botocore.exceptions import ClientError
from copycat_connect.failure_kind import FailureKind, kind_of
from copycat_connect.plugin import PluginSpec
from copycat_objects.stores import s3_failures
from copycat_objects.stores.errors import StoreFullError
from copycat_objects.stores.local import LocalStore

WRITERS = {"object_sink": "sink", "s3_sink": "s3", "hdfs_sink": "hdfs", "hdfs_export": "kip26"}


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_folder_is_a_full_store(number: int) -> None:
    failure = LocalStore(Path("/x")).failure(OSError(number, os.strerror(number)), "write a")
    assert isinstance(failure, StoreFullError)
    assert "make room there" in failure.message


def test_a_full_bucket_is_a_full_store() -> None:
    refused = ClientError({"Error": {"Code": "XMinioStorageFull"}}, "PutObject")
    failure = s3_failures.failed(refused, "write a", "s3://b")
    assert isinstance(failure, StoreFullError)
    assert "make room there" in failure.message


@pytest.mark.parametrize("writer", WRITERS)
def test_a_sink_of_a_store_declares_that_a_full_one_passes(writer: str) -> None:
    plugin: PluginSpec = import_module(f"copycat_objects.{WRITERS[writer]}.plugin").PLUGIN
    assert kind_of(StoreFullError("full"), plugin.failures) is FailureKind.RESOURCE
