"""What a broker finds on disk.

Whether the disk on which an embedded broker keeps its data is full.
"""

from __future__ import annotations

import sys
from pathlib import Path

from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.broker_files import FIRST_METADATA, format_log_folder, write_broker_properties
from copycat_embedded.private_listener import PrivateListener


def properties(file: Path) -> dict[str, str]:
    pairs = (line.partition("=") for line in file.read_text().splitlines())
    return {key: value for key, _, value in pairs}


def test_a_new_folder_is_formatted_with_ids_of_its_own(tmp_path: Path) -> None:
    format_log_folder(tmp_path / "a")
    format_log_folder(tmp_path / "b")
    first, second = (properties(tmp_path / each / "meta.properties") for each in "ab")
    assert first["version"] == "1"
    assert len(first["cluster.id"]) == 22
    assert first["cluster.id"] != second["cluster.id"]
    assert (tmp_path / "a" / FIRST_METADATA).stat().st_size == 411


def test_a_formatted_folder_stays_as_it_is(tmp_path: Path) -> None:
    format_log_folder(tmp_path)
    before = (tmp_path / "meta.properties").read_text()
    (tmp_path / FIRST_METADATA).unlink()
    format_log_folder(tmp_path)
    assert (tmp_path / "meta.properties").read_text() == before
    assert not (tmp_path / FIRST_METADATA).exists()


def test_every_listener_is_on_loopback(tmp_path: Path) -> None:
    write_broker_properties(tmp_path / "server.properties", tmp_path / "log", 4711, 4712)
    written = properties(tmp_path / "server.properties")
    assert written["listeners"] == "PLAINTEXT://127.0.0.1:4711,CONTROLLER://127.0.0.1:4712"
    assert written["controller.quorum.voters"] == "1@127.0.0.1:4712"


def test_settings_of_the_caller_win(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    write_broker_properties(file, tmp_path / "log", 4711, 4712, {"num.io.threads": "7", "new": "1"})
    assert (properties(file)["num.io.threads"], properties(file)["new"]) == ("7", "1")


def test_a_full_disk_is_told_with_the_folder_that_lies_on_it(tmp_path: Path) -> None:
    said = EmbeddedKafka(tmp_path).full_disk(least=sys.maxsize)
    assert said.startswith(f"no space is left where its data lies ({tmp_path}: ")
    assert EmbeddedKafka(tmp_path).full_disk(least=0) == ""


def test_a_folder_that_is_not_there_yet_says_nothing(tmp_path: Path) -> None:
    assert EmbeddedKafka(tmp_path / "nowhere").full_disk(least=sys.maxsize) == ""


def test_a_private_listener_asks_for_a_login_and_so_does_the_controller(
    tmp_path: Path,
) -> None:
    file, private = tmp_path / "server.properties", PrivateListener(4713, "guessless")
    write_broker_properties(file, tmp_path / "log", 4711, 4712, private=private)
    written = properties(file)
    protocols = dict(pair.split(":") for pair in written["listener.security.protocol.map"].split(","))

    assert written["listeners"].split(",")[1] == "COPYCAT://127.0.0.1:4713"
    assert protocols == {
        "PLAINTEXT": "PLAINTEXT",
        "COPYCAT": "SASL_PLAINTEXT",
        "CONTROLLER": "SASL_PLAINTEXT",
    }
    assert written["super.users"] == "User:copycat"
    assert file.stat().st_mode & 0o077 == 0
    assert "guessless" not in repr(private)


def test_each_private_listener_has_a_password_of_its_own() -> None:
    first, second = PrivateListener.new(), PrivateListener.new()
    assert first.password != second.password
    assert len(first.password) == 64
