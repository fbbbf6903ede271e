"""The TLS override is compose.yaml with TLS and nothing else, and its certificates are what it needs."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest
import yaml
from copycat_connect.config.properties import parse_properties
from copycat_gateway.settings import read_settings as read_gateway
from copycat_launcher.misspelt import warnings_about
from copycat_launcher.worker_properties import DISTRIBUTED
from copycat_rest.contexts import own_context
from copycat_rpc.tls import services_tls

from tests.tls_override import COMPOSE, MOUNTED, SCRIPT, guards, shell


def services(file: str) -> dict[str, dict[str, Any]]:
    found = yaml.safe_load((COMPOSE / file).read_text("utf-8"))["services"]
    assert isinstance(found, dict)
    return found


def properties(file: str) -> dict[str, str]:
    return parse_properties((COMPOSE / file).read_text("utf-8"))


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "certificates"
    made = shell(f"sh {SCRIPT} {folder}", environment=os.environ)
    assert made.returncode == 0, made.stderr
    return folder


def test_every_service_of_ours_gets_it_and_nothing_else_changes() -> None:
    ours = {name for name, service in services("compose.yaml").items() if "build" in service}
    override = services("tls.yaml")

    assert set(override) == ours
    for service in override.values():
        assert set(service) == {"volumes"}
        own, shown = service["volumes"]
        assert own == "./tls.properties:/etc/copycat/worker.properties:ro"
        assert shown.endswith(f"/mounted:{MOUNTED}:ro")


def test_its_properties_are_those_without_tls_and_the_guards(certificates: Path) -> None:
    plain, encrypted = properties("worker.properties"), properties("tls.properties")

    assert {key for key in encrypted if encrypted[key] != plain.get(key)} == {
        "listeners",
        *guards(certificates),
    }
    assert set(plain) <= set(encrypted)
    assert encrypted["listeners"] == plain["listeners"].replace("http://", "https://")


def test_the_services_take_its_properties(certificates: Path) -> None:
    given = properties("tls.properties") | guards(certificates)

    DISTRIBUTED.parse(given)
    read_gateway(given)
    assert list(warnings_about(given)) == []


def test_services_ask_each_other_and_users_for_certificates(certificates: Path) -> None:
    given = properties("tls.properties") | guards(certificates)

    between = services_tls(given)
    assert between is not None
    assert (between.asks_clients, between.server_name) == (True, "copycat")
    assert given["listeners.https.ssl.client.auth"] == "required"
    assert own_context(given) is not None  # the health check's: it shakes hands with the listener's


def test_containers_may_read_what_is_mounted_and_nobody_else_may(certificates: Path) -> None:
    modes = {
        str(path.relative_to(certificates)): stat.S_IMODE(path.stat().st_mode)
        for path in (certificates, *certificates.rglob("*"))
    }

    assert modes == {
        ".": 0o700,
        "authority.key": 0o600,
        "client.pem": 0o600,
        "mounted": 0o755,
        "mounted/authority.pem": 0o644,
        "mounted/service.pem": 0o644,
    }


def test_a_folder_that_is_there_is_left_alone(certificates: Path) -> None:
    before = {path: path.read_bytes() for path in certificates.rglob("*") if path.is_file()}

    again = shell(f"sh {SCRIPT} {certificates}", environment=os.environ)

    assert again.returncode != 0
    assert {path: path.read_bytes() for path in certificates.rglob("*") if path.is_file()} == before
