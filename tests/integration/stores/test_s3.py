"""S3 as a store, on moto's server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import boto3
import pytest
from copycat_connect.config import Password
from copycat_connect.errors import ConfigError
from copycat_objects.commit_log import FencedError
from copycat_objects.spark_sink.delta_commits import TablePlace
from copycat_objects.spark_sink.iceberg_commits import IcebergPlace
from copycat_objects.spark_sink.settings import SparkSinkSettings
from copycat_objects.stores.errors import StoreAwayError, StoreRefusedError
from copycat_objects.stores.opening import open_store
from copycat_testkit.kafka import unique
from copycat_testkit.s3 import REGION, S3Server
from pyiceberg.catalog import load_catalog

from tests.integration.stores.store_suite import StoreSuite, put
from tests.unit.plugins.objects.test_table_merges import BY_KEY, A, Pipeline, key, value

pytestmark = pytest.mark.long

PART = 5 << 20


def place_in(s3: S3Server) -> dict[str, Any]:
    bucket = unique("bucket")
    client(s3).create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": REGION})
    return {
        "store.url": s3.url,
        "s3.bucket.name": bucket,
        "s3.part.size": PART,
        "s3.part.retries": 1,
        "aws.access.key.id": "someone",
        "aws.secret.access.key": "s3cret-of-tests",
    }


def client(s3: S3Server, service: str = "s3") -> Any:
    return boto3.client(
        service,
        endpoint_url=s3.url,
        region_name=REGION,
        aws_access_key_id="root",
        aws_secret_access_key="root",
    )


class TestS3Store(StoreSuite):
    @pytest.fixture
    def place(self, s3: S3Server) -> Mapping[str, str | int]:
        return {**place_in(s3), "part": PART}


def test_a_bucket_in_the_address_has_a_prefix(s3: S3Server) -> None:
    place = {**place_in(s3), "s3.endpoint": s3.url}
    bucket = place.pop("s3.bucket.name")
    store = open_store(place, f"s3://{bucket}/some/where")
    put(store, "a/b", b"1")
    keys = [found["Key"] for found in client(s3).list_objects_v2(Bucket=bucket)["Contents"]]
    assert keys == ["some/where/a/b"]
    assert [file.path for file in store.list("a")] == ["a/b"]


def test_an_object_is_not_seen_before_it_is_whole(s3: S3Server) -> None:
    place = place_in(s3)
    store = open_store(place, s3.url)
    made = store.create("large")
    made.write(b"x" * (2 * PART + 1))
    assert store.find("large") is None
    assert list(store.list()) == []
    made.close()
    assert [file.size for file in store.list()] == [2 * PART + 1]


def test_a_bucket_that_is_missing_is_named_with_its_key(s3: S3Server) -> None:
    store = open_store({**place_in(s3), "s3.bucket.name": "nobodys"}, s3.url)
    with pytest.raises(StoreRefusedError, match=r"make the bucket, or name another in 's3\.bucket\.name'"):
        put(store, "x", b"1")
    with pytest.raises(StoreRefusedError, match=r"s3\.bucket\.name"):
        list(store.list())


def test_a_bucket_must_be_named(s3: S3Server) -> None:
    with pytest.raises(ConfigError, match=r"Missing required configuration s3\.bucket\.name"):
        open_store({}, s3.url)


def test_a_server_that_is_away_is_waited_for(tmp_path_factory: pytest.TempPathFactory) -> None:
    s3 = S3Server(tmp_path_factory.mktemp("s3") / "log")
    with s3:
        place = place_in(s3)
        store = open_store(place, s3.url)
        put(store, "x", b"1")
    with pytest.raises(StoreAwayError, match=r"is the server up, and is 'store\.url' right\?"):
        store.find("x")
    with pytest.raises(StoreAwayError):
        put(store, "y", b"1")
    with s3:
        client(s3).create_bucket(
            Bucket=place["s3.bucket.name"], CreateBucketConfiguration={"LocationConstraint": REGION}
        )
        put(store, "y", b"1")
        assert store.read("y", 0, 1) == b"1"


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Run a server of its own, which asks everybody for a login."""
    with S3Server(tmp_path_factory.mktemp("s3") / "log") as s3:
        place = place_in(s3)
        users = client(s3, "iam")
        for name in ("owner", "guest"):
            users.create_user(UserName=name)
            key = users.create_access_key(UserName=name)["AccessKey"]
            place[name] = (key["AccessKeyId"], Password(key["SecretAccessKey"]))
        users.put_user_policy(
            UserName="owner",
            PolicyName="all",
            PolicyDocument='{"Version": "2012-10-17", "Statement": '
            '[{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}',
        )
        s3.demand_logins()
        yield place


class TestLogins:
    def as_user(self, place: dict[str, Any], key: str, secret: Password) -> Any:
        return open_store(
            {**place, "aws.access.key.id": key, "aws.secret.access.key": secret}, place["store.url"]
        )

    def test_the_right_login_may_write(self, asking: dict[str, Any]) -> None:
        store = self.as_user(asking, *asking["owner"])
        put(store, "x", b"1")
        assert store.read("x", 0, 1) == b"1"

    def test_a_wrong_secret_is_refused_by_key_and_not_shown(self, asking: dict[str, Any]) -> None:
        store = self.as_user(asking, asking["owner"][0], Password("wrong-s3cret"))
        with pytest.raises(
            StoreRefusedError, match=r"look at 'aws\.access\.key\.id' and 'aws\.secret"
        ) as refused:
            put(store, "y", b"1")
        assert "wrong-s3cret" not in str(refused.value)

    def test_a_user_without_rights_is_refused_by_key(self, asking: dict[str, Any]) -> None:
        store = self.as_user(asking, *asking["guest"])
        with pytest.raises(StoreRefusedError, match=r"let the user of 'aws\.access\.key\.id' list, read"):
            put(store, "y", b"1")


def test_a_table_of_delta_is_written_there_and_by_one_task_at_a_time(s3: S3Server, tmp_path: Path) -> None:
    place = place_in(s3)
    given = {name: str(place[name]) for name in ("aws.access.key.id", "aws.secret.access.key")}
    config = {
        **given,
        "store.url": f"s3://{place['s3.bucket.name']}/some where",
        "s3.endpoint": s3.url,
        "s3.region": REGION,
        **BY_KEY,
    }
    frozen, successor = Pipeline(tmp_path, **config), Pipeline(tmp_path, **config)
    successor.commit((key(1), value(1, "a")), (key(2), value(2, "b")))
    successor.commit((key(2), None), (key(1), value(1, "c")))
    with pytest.raises(FencedError):
        frozen.commit((key(1), value(1, "too late")))
    assert successor.rows() == [{"id": 1, "word": "c"}]
    assert Pipeline(tmp_path, **config).context.seeks == {A: 4}
    secret = given["aws.secret.access.key"]
    assert secret not in repr(TablePlace.of(SparkSinkSettings.parse(successor.context.configs())))


def test_a_table_of_iceberg_is_written_there_and_by_one_task_at_a_time(s3: S3Server, tmp_path: Path) -> None:
    place = place_in(s3)
    config = {
        **{name: str(place[name]) for name in ("aws.access.key.id", "aws.secret.access.key")},
        "store.url": f"s3://{place['s3.bucket.name']}/some where",
        "s3.endpoint": s3.url,
        "s3.region": REGION,
        "format": "iceberg",
        "iceberg.table": "shop.t",
        "iceberg.catalog.uri": f"sqlite:///{tmp_path}/catalog.db",
        "partition.field.name": "word",
    }
    frozen, successor = Pipeline(tmp_path, **config), Pipeline(tmp_path, **config)
    successor.commit((key(1), value(1, "a b/")), (key(2), value(2, None)))
    successor.commit((key(1), value(1, "a b/")))
    with pytest.raises(FencedError):
        frozen.commit((key(1), value(1, "too late")))
    properties = IcebergPlace.of(SparkSinkSettings.parse(successor.context.configs())).properties
    table = load_catalog("default", **properties).load_table("shop.t")
    assert sorted((row["id"], row["word"]) for row in table.scan().to_arrow().to_pylist()) == [
        (1, "a b/"),
        (1, "a b/"),
        (2, None),
    ]
    assert Pipeline(tmp_path, **config).context.seeks == {A: 3}
