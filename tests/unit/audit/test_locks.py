from __future__ import annotations

from pathlib import Path

from copycat_embedded.lock import LOCK as JAR_LOCK

from tools.audit.locks import check_hashes, releases

REGISTRY = 'source = { registry = "https://index.example/simple" }'
URL = "https://files.example/lines-1.0-py3-none-any.whl"


def lock_file(folder: Path, source: str, file: str) -> Path:
    place = folder / "uv.lock"
    package = f'[[package]]\nname = "lines"\nversion = "1.0"\n{source}\nwheels = [{{ {file} }}]\n'
    place.write_text(package, "utf-8")
    return place


def test_what_is_locked_comes_from_an_index_and_has_hashes() -> None:
    answer = check_hashes()

    assert answer.findings == ()
    assert answer.asked > 300


def test_every_release_that_is_locked_names_its_files() -> None:
    assert all(release.hashes for release in releases())


def test_a_file_without_a_hash_is_found(tmp_path: Path) -> None:
    lock = lock_file(tmp_path, REGISTRY, f'url = "{URL}"')

    [finding] = check_hashes(lock, JAR_LOCK).findings

    assert (finding.package, finding.id) == ("lines", "hash")
    assert "lines-1.0-py3-none-any.whl has no sha256" in finding.text


def test_a_source_that_is_no_index_is_found(tmp_path: Path) -> None:
    source = 'source = { git = "https://code.example/lines" }'

    [finding] = check_hashes(lock_file(tmp_path, source, f'url = "{URL}"')).findings

    assert (finding.package, finding.id) == ("lines", "source")


def test_a_jar_without_a_hash_is_found(tmp_path: Path) -> None:
    jars = tmp_path / "jars.lock.toml"
    jars.write_text('[sets]\nbroker = ["org.example:lines:1.0"]\n[sha256]\n', "utf-8")
    lock = lock_file(tmp_path, REGISTRY, f'url = "{URL}", hash = "sha256:{"0" * 64}"')

    [finding] = check_hashes(lock, jars).findings

    assert (finding.package, finding.version, finding.id) == ("org.example:lines", "1.0", "hash")
