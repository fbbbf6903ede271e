"""Tables of Iceberg that SparkSink appends to: conflicts, tables of others, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from copycat_connect.data import INT32_SCHEMA, OPTIONAL_STRING_SCHEMA, Struct, TopicPartition
from copycat_connect.errors import ConfigError, ConnectError, RetriableError
from copycat_objects.spark_sink.connector import SparkSinkConnector
from copycat_objects.spark_sink.iceberg_commits import IcebergCommits, IcebergPlace
from copycat_objects.spark_sink.settings import SparkSinkSettings
from pyiceberg.table.update.spec import UpdateSpec

from tests.unit.plugins.objects.sink_tables import IcebergSinkTable, struct

A, B = TopicPartition("t", 0), TopicPartition("t-1", 0)


def row(number: int, word: str | None = None) -> Struct:
    return struct(id=(INT32_SCHEMA, number), word=(OPTIONAL_STRING_SCHEMA, word))


@pytest.fixture
def table(tmp_path: Path) -> IcebergSinkTable:
    return IcebergSinkTable(tmp_path)


def test_properties_of_the_table_are_kept_and_many_versions_have_few_manifests(
    table: IcebergSinkTable,
) -> None:
    commits = table.commits()
    commits.add(table.write(row(0)), {A: 1})
    with table.catalog().load_table(table.name).transaction() as transaction:
        transaction.set_properties(
            {
                "owner": "us",
                "commit.manifest.min-count-to-merge": "2",
                "write.metadata.metrics.default": "none",
            }
        )
    for number in range(1, 6):
        commits.add(table.write(row(number)), {A: number + 1})
    found = table.catalog().load_table(table.name)
    assert found.metadata.properties["owner"] == "us"
    assert "commit.retry.num-retries" not in found.metadata.properties
    snapshot = found.current_snapshot()
    assert snapshot is not None
    assert len(snapshot.manifests(found.io)) == 1
    assert table.ids() == list(range(6))


def test_a_divided_table_is_pruned_by_the_contents_of_its_columns(tmp_path: Path) -> None:
    table = IcebergSinkTable(tmp_path, "word", "id")
    table.commits().add(table.write(row(1, "a"), row(1, ""), row(1), row(2, "a")), {A: 4})
    with table.catalog().load_table(table.name).transaction() as transaction:
        transaction.set_properties({"write.metadata.metrics.default": "none"})
    table.commits().add(table.write(row(1, "a"), row(3, "b")), {A: 6})
    found = table.catalog().load_table(table.name)
    files = found.inspect.files().to_pylist()
    parts = [(each["partition"]["word"], each["partition"]["id"], each["record_count"]) for each in files]
    expected = [("a", 1, 1), ("", 1, 1), (None, 1, 1), ("a", 2, 1), ("a", 1, 1), ("b", 3, 1)]
    assert sorted(map(str, parts)) == sorted(map(str, expected))
    assert len(found.scan(row_filter="word == 'a' and id == 1").to_arrow()) == 2


def test_a_table_of_others_gets_rows_with_its_types_unless_it_is_elsewhere_or_computed(
    table: IcebergSinkTable,
) -> None:
    catalog = table.catalog()
    catalog.create_namespace("shop")
    columns = pa.schema([("id", pa.int64()), ("word", pa.string()), ("at", pa.timestamp("us"))])
    made = catalog.create_table(table.name, columns, location=f"file://{table.folder}")
    table.commits().add(table.write(row(1, "a")), {A: 1})
    assert table.rows() == [{"id": 1, "word": "a", "at": None}]
    assert table.schema().field("id").type == pa.int64()
    with made.update_spec() as division:
        assert isinstance(division, UpdateSpec)
        division.add_field("at", "month")
    with pytest.raises(ConnectError, match=r"is divided by month of at; this connector writes tables"):
        table.commits()
    elsewhere = IcebergPlace(table.name, f"file://{table.root}/other", table.properties)
    with pytest.raises(
        ConnectError, match=r"are in file://.*lake/t, not in .*/other: set store.url and prefix"
    ):
        IcebergCommits(elsewhere, "c", ()).claim()


def test_a_catalog_that_cannot_be_used_and_a_broken_property_are_named(table: IcebergSinkTable) -> None:
    table.commits().add(table.write(row(1)), {A: 1})
    with table.catalog().load_table(table.name).transaction() as transaction:
        transaction.set_properties({"copycat.c": "[]"})
    with pytest.raises(ConnectError, match=r"The property copycat.c of the table is malformed"):
        table.commits()
    wrong = {
        "sqlite:////nowhere/catalog.db": RetriableError,
        "none+such://user:hidden-7@host/catalog": ConnectError,
        "no address, hidden-7": ConnectError,
    }
    for uri, kind in wrong.items():
        place = IcebergPlace(table.name, "file:///lake", {"type": "sql", "uri": uri})
        with pytest.raises(kind, match=r"The table shop.t cannot be read: ") as failure:
            IcebergCommits(place, "c", ()).claim()
        assert "hidden-7" not in str(failure.value)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"iceberg.table": ""}, "format=iceberg needs iceberg.table"),
        ({"iceberg.table": "orders"}, "expected namespace.name, e.g. lake.orders"),
        ({"iceberg.table": "shop..orders"}, "expected namespace.name, e.g. lake.orders"),
        ({"iceberg.catalog.uri": ""}, "format=iceberg needs iceberg.catalog.uri"),
        ({"iceberg.catalog.type": "hive"}, "Invalid value hive for configuration iceberg.catalog.type"),
        ({"insert.mode": "upsert", "pk.fields": "id"}, "insert.mode=upsert needs format=delta"),
        ({"compact.versions": "9"}, "compact.versions needs format=delta: have an engine of queries compact"),
    ],
)
def test_settings_that_iceberg_does_not_have_are_refused_by_name(
    table: IcebergSinkTable, change: dict[str, str], text: str
) -> None:
    given = {**table.config, **change}
    errors = [error for each in SparkSinkConnector().validate(given) for error in each.errors]
    assert len(errors) == 1
    assert text in errors[0]
    with pytest.raises(ConfigError, match=text):
        SparkSinkConnector().start(given)


def test_the_catalog_gets_its_properties_and_how_s3_is_reached_and_shows_no_secret() -> None:
    secrets = {
        "aws.secret.access.key": "hidden-1",
        "iceberg.catalog.uri": "postgresql+psycopg://lake:hidden-2@host/catalog",
        "iceberg.catalog.token": "hidden-3",
        "iceberg.catalog.credential": "hidden-4",
        "iceberg.catalog.s3.session-token": "hidden-5",
    }
    given = {
        "name": "c",
        "topics": "t",
        "store.url": "s3://lake/below",
        "prefix": "/tables/t/",
        "format": "iceberg",
        "iceberg.table": "shop.t",
        "iceberg.catalog.name": "lake",
        "iceberg.catalog.s3.region": "eu-north-1",
        "aws.access.key.id": "writer",
        "s3.region": "eu-central-1",
        "s3.endpoint": "http://localhost:9000",
        **secrets,
    }
    settings = SparkSinkSettings.parse(given)
    place = IcebergPlace.of(settings)
    assert (place.name, place.address) == ("shop.t", "s3://lake/below/tables/t")
    assert place.properties == {
        "name": "lake",
        "type": "sql",
        "uri": secrets["iceberg.catalog.uri"],
        "token": "hidden-3",
        "credential": "hidden-4",
        "s3.session-token": "hidden-5",
        "s3.region": "eu-north-1",
        "s3.access-key-id": "writer",
        "s3.secret-access-key": "hidden-1",
        "s3.endpoint": "http://localhost:9000",
    }
    shown = f"{settings!r} {place!r} {SparkSinkConnector().validate(given)!r}"
    assert not [secret for number in range(1, 6) if (secret := f"hidden-{number}") in shown]


def test_a_folder_by_its_path_is_an_address(tmp_path: Path) -> None:
    config = {**IcebergSinkTable(tmp_path).config, "store.url": str(tmp_path)}
    assert IcebergPlace.of(SparkSinkSettings.parse(config)).address == f"file://{tmp_path}/lake/t"
