"""Tables that queries join, which a driver holds as they were when they were last read, in each format."""

from __future__ import annotations

import shutil
import traceback
from pathlib import Path

import pyarrow as pa
import pytest
from copycat_connect.errors import ConnectError, RetriableError
from copycat_executor.spark.session import Spark
from copycat_objects.spark_query.held_tables import HeldTables
from copycat_objects.spark_query.side_tables import side_tables
from deltalake import write_deltalake
from pyiceberg.catalog import load_catalog
from pyiceberg.types import StringType

pytestmark = [pytest.mark.timeout(240), pytest.mark.long]


def test_tables_of_each_format_are_held_as_they_were_when_they_were_last_read(
    spark: Spark, tmp_path: Path
) -> None:
    session, rows = spark.session, [(1, "a b"), (2, "ü/=%")]
    frame = session.sql("VALUES (1, 'a b'), (2, 'ü/=%') AS t(id, name)")
    config: dict[str, str] = {}
    for name in ("csv", "json", "orc"):
        frame.write.format(name).option("header", "true").save(f"file://{tmp_path}/{name}")
        config |= {f"table.{name}.format": name, f"table.{name}.url": f"file://{tmp_path}/{name}"}
    config |= {"table.csv.option.header": "true", "table.csv.option.inferSchema": "true"}
    table = pa.table({"id": [1, 2], "name": ["a b", "ü/=%"]})
    write_deltalake(tmp_path / "delta", table, partition_by=["name"])
    config |= {"table.delta.format": "delta", "table.delta.url": f"file://{tmp_path}/delta"}
    session._jvm.java.lang.System.setProperty("derby.stream.error.file", f"{tmp_path}/log")  # type: ignore[union-attr]
    database = {
        "driver": "org.apache.derby.iapi.jdbc.AutoloadedDriver",
        "dbtable": "t",
        "password": "open sesame",
    }
    url = f"jdbc:derby:{tmp_path}/database"
    frame.write.jdbc(f"{url};create=true", "t", properties={"driver": database["driver"]})
    config |= {"table.jdbc.format": "jdbc", "table.jdbc.url": url}
    config |= {f"table.jdbc.option.{name}": value for name, value in database.items()}

    names = ["csv", "json", "orc", "delta", "jdbc"]
    held = HeldTables(side_tables(names, config), 60)
    held.keep(session)
    assert not held.renew(session)
    for name in names:
        found = session.table(name)
        assert sorted((row["id"], row["name"]) for row in found.select("id", "name").collect()) == rows, name

    write_deltalake(tmp_path / "delta", table, mode="append")
    (tmp_path / "json" / "more.json").write_text('{"id": 3}\n{"id": 4}\n')
    frame.write.jdbc(url, "t", "append", {"driver": database["driver"]})
    changed = ("delta", "json", "jdbc")
    held.keep(session)
    assert [session.table(name).count() for name in changed] == [2, 2, 2], "it is not time yet"
    assert held.renew(session)
    assert [session.table(name).count() for name in changed] == [4, 4, 4]
    shutil.rmtree(tmp_path / "csv")
    with pytest.raises(
        RetriableError, match=r"The table csv \(table.csv.url\) cannot be read: .*PATH_NOT_FOUND"
    ):
        held.renew(session)
    assert session.table("csv").count() == 2
    held.close()
    assert not session.catalog.tableExists("csv")

    none = {"table.jdbc.option.driver": "org.none.Driver"}
    with pytest.raises(ConnectError, match=r"no class org.none.Driver \(table.jdbc.option.driver\): name"):
        HeldTables(side_tables(["jdbc"], {**jdbc(config), **none}), 60).renew(session)
    secret = {"table.jdbc.option.dbtable": "(SELECT open sesame)"}
    with pytest.raises(RetriableError, match="The table jdbc") as refused:
        HeldTables(side_tables(["jdbc"], {**jdbc(config), **secret}), 60).renew(session)
    assert "sesame" not in "".join(traceback.format_exception(refused.value))


def test_a_table_of_iceberg_is_held_with_the_columns_and_rows_of_its_newest_snapshot(
    spark: Spark, tmp_path: Path
) -> None:
    session, uri = spark.session, f"sqlite:///{tmp_path}/catalog.db"
    given = {"url": f"file://{tmp_path}/t", "iceberg.table": "shop.t", "iceberg.catalog.uri": uri}
    config = {f"table.t.{key}": value for key, value in {"format": "iceberg", **given}.items()}
    held = HeldTables(side_tables(["t"], config), 60)
    with pytest.raises(RetriableError, match=r"There is no table shop\.t yet"):
        held.keep(session)
    catalog = load_catalog("default", type="sql", uri=uri)
    catalog.create_namespace("shop")
    columns = pa.schema([("id", pa.int64()), ("name", pa.string())])
    table = catalog.create_table("shop.t", columns, location=f"file://{tmp_path}/t")
    held.keep(session)
    assert session.table("t").columns == ["id", "name"]
    assert session.table("t").count() == 0
    table.append(pa.table({"id": [1, 2], "name": ["a b", None]}))
    with table.update_schema() as change:
        change.rename_column("name", "called").add_column("word", StringType())
    table.append(pa.table({"id": [3], "called": ["c"], "word": ["w"]}))
    assert held.renew(session)
    assert not held.renew(session)
    now = session.table("t")
    assert now.columns == ["id", "called", "word"]
    expected = [(1, "a b", None), (2, None, None), (3, "c", "w")]
    assert sorted((*row,) for row in now.collect()) == expected
    table.delete("id = 1")
    assert held.renew(session)
    assert session.table("t").count() == 2
    held.close()


def jdbc(config: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in config.items() if name.startswith("table.jdbc.")}
