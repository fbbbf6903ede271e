"""What `copycat up` gives its roles, and what a worker's properties must say.

Properties files: what is written is what a reader finds.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from copycat_connect.errors import ConfigError
from copycat_launcher.roles import CONFIG, EXECUTOR, GATEWAY
from copycat_launcher.worker_properties import (
    DISTRIBUTED,
    STORED,
    executor_properties,
    up_properties,
    write_properties,
)
from copycat_rpc.role import read_properties
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.full_disk import room_for

PORTS = (1, 2, 3, 4, 5)


def test_the_names_are_those_kafka_ships() -> None:
    written = up_properties("127.0.0.1:9", 8083, PORTS, {})
    assert written["config.storage.topic"] == "connect-configs"
    assert written["value.converter"] == "org.apache.kafka.connect.json.JsonConverter"
    assert written["value.converter.schemas.enable"] == "true"
    assert DISTRIBUTED.parse(written)["group.id"] == "copycat"


def test_replication_is_the_brokers_default() -> None:
    written = up_properties("a:1", 8083, PORTS, {})
    factors = {key: value for key, value in written.items() if key.endswith("replication.factor")}
    assert factors == {f"{name}.storage.replication.factor": "-1" for name in STORED}


def test_every_role_is_found_where_it_listens() -> None:
    written = up_properties("a:1", 8083, PORTS, {})
    assert CONFIG.address(written) == written["config.addresses"] == "127.0.0.1:1"
    assert EXECUTOR.address(written) == "127.0.0.1:5"
    assert GATEWAY.address(written) == "127.0.0.1:8083"
    assert EXECUTOR.address(executor_properties(written, 6)) == "127.0.0.1:6"


def test_what_the_user_sets_wins() -> None:
    assert up_properties("a:1", 1, PORTS, {"group.id": "mine"})["group.id"] == "mine"


def test_a_service_listening_everywhere_is_reached_on_loopback() -> None:
    assert CONFIG.address({"config.listen": "0.0.0.0:9101"}) == "127.0.0.1:9101"
    assert GATEWAY.address({"listeners": "http://:8084,https://x:1"}) == "127.0.0.1:8084"
    assert GATEWAY.address({"listeners": "https://:8443"}) == "127.0.0.1:8443"
    assert GATEWAY.address({}) == "127.0.0.1:8083"


@pytest.mark.parametrize("key", list(DISTRIBUTED.keys))
def test_a_missing_key_is_refused_in_kafkas_words(key: str) -> None:
    complete = up_properties("a:1", 8083, PORTS, {})
    del complete[key]
    with pytest.raises(ConfigError) as refused:
        DISTRIBUTED.parse(complete)
    assert refused.value.message == f'Missing required configuration "{key}" which has no default value.'


TEXTS = st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=20)


@given(st.dictionaries(TEXTS.filter(bool), TEXTS.map(lambda text: f"\\ {text}\n\t")))
def test_whatever_is_written_is_read_back(tmp_path_factory: object, properties: dict[str, str]) -> None:
    file = Path(str(tmp_path_factory.mktemp("properties"))) / "worker.properties"  # type: ignore[attr-defined]
    write_properties(file, properties, "two\nlines")
    assert read_properties(file) == properties


def test_java_escapes_are_understood(tmp_path: Path) -> None:
    file = tmp_path / "c.properties"
    file.write_text("! note\nname : s\\u00fcd\npath=C\\:\\\\logs\\\n   \\\\today\nempty\nlist=a,\\\n  b\n")
    assert read_properties(file) == {"name": "süd", "path": "C:\\logs\\today", "empty": "", "list": "a,b"}


@pytest.fixture
def lax_umask() -> Iterator[None]:
    """Narrow nothing for whoever creates a file."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("lax_umask")
@pytest.mark.parametrize("left", [(), ("worker.properties",), ("worker.properties.half",)])
def test_none_but_the_owner_may_read_what_is_written(tmp_path: Path, left: tuple[str, ...]) -> None:
    for name in left:
        (tmp_path / name).write_text("wider")
        (tmp_path / name).chmod(0o666)
    file = tmp_path / "worker.properties"
    write_properties(file, {"password": "secret"})
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.iterdir()] == [file.name]


@pytest.mark.usefixtures("lax_umask")
def test_nobody_who_opened_a_wider_file_before_reads_what_is_written(tmp_path: Path) -> None:
    file = tmp_path / "worker.properties"
    half = tmp_path / "worker.properties.half"
    half.write_text("")
    with half.open() as before:
        write_properties(file, {"password": "secret"})
        assert before.read() == ""


def test_a_disk_that_is_full_leaves_the_file_as_it_was_and_no_other(tmp_path: Path) -> None:
    file = tmp_path / "worker.properties"
    write_properties(file, {"a": "1"})
    before = file.read_bytes()
    for room in range(len(before)):
        with room_for(room), pytest.raises(OSError, match="File too large"):
            write_properties(file, {"a": "2"})
        assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir()] == [(file.name, before)]
