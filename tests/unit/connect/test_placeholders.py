"""Config providers and placeholders."""

from __future__ import annotations

from pathlib import Path

import pytest
from copycat_connect.config.placeholders import Placeholders, has_placeholder, restore_placeholders
from copycat_connect.errors import ConfigError

WORKER = {
    "config.providers": "file,dir,env",
    "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
    "config.providers.dir.class": "DirectoryConfigProvider",
    "config.providers.env.class": "EnvVarConfigProvider",
    "config.providers.env.param.allowlist.pattern": "DB_.*",
}
PLACEHOLDERS = Placeholders.from_worker(WORKER, {"DB_USER": "ada", "HOME": "/root"})


def resolve(text: str) -> str:
    return PLACEHOLDERS.resolve({"k": text})["k"]


def test_a_value_comes_from_a_properties_file(tmp_path: Path) -> None:
    secrets = tmp_path / "secrets.properties"
    secrets.write_text("password = s3cret\nhost: db\n", "utf-8")
    assert resolve(f"${{file:{secrets}:host}}:${{file:{secrets}:password}}") == "db:s3cret"


def test_a_value_comes_from_a_file_of_a_folder_with_its_line_end(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("s3cret\n", "utf-8")
    assert resolve(f"${{dir:{tmp_path}:password}}") == "s3cret\n"


def test_a_folder_gives_nothing_from_outside_of_it(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "password").write_text("s3cret", "utf-8")
    text = f"${{dir:{inner}:../password}}"
    assert resolve(text) == text


def test_a_value_comes_from_an_allowed_environment_variable() -> None:
    assert resolve("${env:DB_USER}") == "ada"
    assert resolve("${env:HOME}") == "${env:HOME}"


def test_an_environment_variable_has_no_path() -> None:
    with pytest.raises(
        ConfigError, match="Path is not supported for EnvVarConfigProvider, invalid value '/x'"
    ):
        resolve("${env:/x:DB_USER}")


@pytest.mark.parametrize("text", ["${vault:path:key}", "${env:DB_NONE}", "$env:DB_USER", "${novar}"])
def test_what_no_provider_knows_stays_as_it_is(text: str) -> None:
    assert resolve(text) == text


def test_null_stays_null() -> None:
    assert PLACEHOLDERS.resolve({"k": None}) == {"k": None}


def test_a_file_outside_of_the_allowed_paths_is_not_read(tmp_path: Path) -> None:
    allowed, outside = tmp_path / "allowed", tmp_path / "secrets.properties"
    allowed.mkdir()
    outside.write_text("a=b", "utf-8")
    worker = WORKER | {"config.providers.file.param.allowed.paths": str(allowed)}
    text = f"${{file:{allowed}/../secrets.properties:a}}"
    assert Placeholders.from_worker(worker, {}).resolve({"k": text}) == {"k": text}


@pytest.mark.parametrize(("path", "problem"), [("relative", "is not absolute"), ("/nope", "does not exist")])
def test_an_allowed_path_must_be_absolute_and_exist(path: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=f"Path {path} {problem}"):
        Placeholders.from_worker(WORKER | {"config.providers.dir.param.allowed.paths": path}, {})


def test_an_unreadable_file_is_an_error() -> None:
    with pytest.raises(ConfigError, match="Could not read properties from file /nope"):
        resolve("${file:/nope:a}")


def test_an_unknown_provider_class_is_refused() -> None:
    with pytest.raises(ConfigError, match="Class Safe could not be found"):
        Placeholders.from_worker({"config.providers": "v", "config.providers.v.class": "Safe"}, {})


def test_a_resolved_secret_goes_back_to_its_placeholder() -> None:
    raw = {"password": "${env:DB_USER}", "host": "db"}
    resolved = PLACEHOLDERS.resolve(raw)
    tasks = [{"password": "ada", "host": "db", "user": "ada"}, {"password": "other"}]
    assert restore_placeholders(raw, resolved, tasks) == [
        {"password": "${env:DB_USER}", "host": "db", "user": "ada"},
        {"password": "other"},
    ]


def test_only_text_with_a_provider_counts_as_placeholder() -> None:
    assert has_placeholder("a ${file:/x:y} b")
    assert not has_placeholder("${x}")
    assert not has_placeholder(None)


def test_a_worker_resolves_its_own_settings_and_leaves_those_of_plugins() -> None:
    given = WORKER | {"sasl.jaas.config": "${env:DB_USER}", "producer.sasl.jaas.config": "${env:DB_USER}"}
    resolved = PLACEHOLDERS.resolve_own(given)
    assert resolved == given | {"sasl.jaas.config": "ada"}
