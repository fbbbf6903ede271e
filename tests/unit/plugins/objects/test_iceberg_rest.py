"""Tables of Iceberg whose catalog is a service: Iceberg's REST protocol, over a catalog in a file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from copycat_connect.data import INT32_SCHEMA, Struct, TopicPartition
from copycat_connect.errors import ConnectError, RetriableError
from copycat_objects.commit_log import FencedError
from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import CommitFailedException, NoSuchTableError
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import CommitTableRequest, Table
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from tests.unit.plugins.objects.sink_tables import IcebergSinkTable, struct

A = TopicPartition("t", 0)
TOKEN = "s3cret-token"


class Service:
    """A service of the protocol; what it does is done by a catalog of pyiceberg in a file."""

    def __init__(self, root: Path) -> None:
        self.catalog = load_catalog("inner", type="sql", uri=f"sqlite:///{root}/inner.db")
        self.commits = 0
        self.answers_commits = True

    def __call__(self, request: Request) -> Response:
        """Answer a request."""
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return _refused(401, "NotAuthorizedException")
        try:
            return self._answered(request, request.path.removeprefix("/v1/").split("/"))
        except NoSuchTableError:
            return _refused(404, "NoSuchTableException")
        except CommitFailedException:
            return _refused(409, "CommitFailedException")

    def _answered(self, request: Request, path: list[str]) -> Response:
        given = json.loads(request.get_data() or b"{}")
        match request.method, path:
            case "GET", ["config"]:
                return _said({"defaults": {}, "overrides": {}})
            case "POST", ["namespaces"]:
                self.catalog.create_namespace_if_not_exists(".".join(given["namespace"]))
                return _said({"namespace": given["namespace"], "properties": {}})
            case "POST", ["namespaces", namespace, "tables"]:
                assert given["stage-create"]
                staged = self.catalog.create_table_transaction(
                    f"{namespace}.{given['name']}",
                    Schema.model_validate(given["schema"]),
                    location=given["location"],
                    partition_spec=PartitionSpec(),
                    properties=given["properties"],
                )
                return _said({"metadata": staged.table_metadata.model_dump(mode="json"), "config": {}})
            case "GET", ["namespaces", namespace, "tables", name]:
                found = self.catalog.load_table(f"{namespace}.{name}")
                metadata = found.metadata.model_dump(mode="json")
                return _said(
                    {"metadata": metadata, "metadata-location": found.metadata_location, "config": {}}
                )
            case "POST", ["namespaces", namespace, "tables", name]:
                return self._committed((namespace, name), CommitTableRequest.model_validate(given))
        raise AssertionError(f"{request.method} {request.path}")

    def _committed(self, name: tuple[str, str], asked: CommitTableRequest) -> Response:
        nothing: Any = None
        table = Table(name, nothing, "", nothing, self.catalog)  # its name is all that counts
        done = self.catalog.commit_table(table, asked.requirements, asked.updates)
        self.commits += 1
        if not self.answers_commits:
            return _refused(504, "CommitStateUnknownException")
        return _said(done.model_dump(mode="json", by_alias=True))


def _said(body: object) -> Response:
    return Response(json.dumps(body), mimetype="application/json")


def _refused(code: int, kind: str) -> Response:
    error = {"error": {"message": f"says the service: {kind}", "type": kind, "code": code}}
    return Response(json.dumps(error), code, mimetype="application/json")


class RestSinkTable(IcebergSinkTable):
    """A table of Iceberg behind a service."""

    def __init__(self, root: Path, url: str, token: str = TOKEN) -> None:
        super().__init__(root)
        self._url, self._token = url, token

    @property
    def properties(self) -> dict[str, str]:
        """Those of the service."""
        return {"type": "rest", "uri": self._url, "token": self._token}


@pytest.fixture
def service(tmp_path: Path) -> Service:
    return Service(tmp_path)


@pytest.fixture
def url(service: Service) -> Iterator[str]:
    """Give the address of the service."""
    with HTTPServer("127.0.0.1") as server:
        server.expect_request(re.compile("/v1/.*")).respond_with_handler(service)
        yield server.url_for("")


def row(number: int) -> Struct:
    return struct(id=(INT32_SCHEMA, number))


def test_a_service_has_every_commit_once_and_refuses_those_of_tasks_that_were_replaced(
    service: Service, url: str, tmp_path: Path
) -> None:
    table = RestSinkTable(tmp_path, url)
    before = table.commits()
    before.add(table.write(row(0)), {A: 1})
    successor = table.commits()
    with pytest.raises(FencedError):
        before.add(table.write(row(99)), {A: 2})
    other = table.commits("other")
    other.add(table.write(row(1)), {A: 1})
    successor.add(table.write(row(2)), {A: 2})
    assert table.ids() == [0, 1, 2]
    service.answers_commits = False
    with pytest.raises(RetriableError, match="says the service: CommitStateUnknownException"):
        successor.add(table.write(row(3)), {A: 3})
    service.answers_commits = True
    assert table.commits().positions([A]) == {A: 3}
    assert table.ids() == [0, 1, 2, 3]


def test_a_wrong_token_is_refused_and_not_shown(url: str, tmp_path: Path) -> None:
    with pytest.raises(ConnectError, match=r"The table shop\.t cannot be read: ") as refused:
        RestSinkTable(tmp_path, url, "wrong-t0ken").commits()
    assert "wrong-t0ken" not in str(refused.value)
