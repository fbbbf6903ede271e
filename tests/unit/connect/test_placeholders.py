"""Config providers and placeholders.

Passwords that are placeholders still are refused, before a server is sent their letters.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from copycat_connect.config.placeholders import (
    MAX_RESOLVED_CHARACTERS,
    Placeholders,
    find_placeholders,
    has_placeholder,
    provider_of,
    restore_placeholders,
)
from copycat_connect.errors import ConfigError
from copycat_connect.plugin import CONNECTORS, load_plugins
from copycat_connect.validation import WorkerRules, validate_connector
from hypothesis import given
from hypothesis import strategies as st

WORKER = {
    "config.providers": "file,dir,env",
    "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
    "config.providers.dir.class": "DirectoryConfigProvider",
    "config.providers.env.class": "EnvVarConfigProvider",
    "config.providers.env.param.allowlist.pattern": "DB_.*",
}
#: What Kafka's ConfigTransformer finds.
KAFKA = re.compile(r"\$\{([^}]*?):(([^}]*?):)?([^}]*?)\}")
MEGABYTE = 1_000_000
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


@given(st.text("${}:a\n", max_size=14))
def test_placeholders_are_those_that_kafkas_pattern_finds(text: str) -> None:
    found = [(each.start, each.end, each.provider, each.path, each.key) for each in find_placeholders(text)]
    expected = [(*each.span(), each[1], each[3] or "", each[4]) for each in KAFKA.finditer(text)]
    assert found == expected
    whole = KAFKA.fullmatch(text)
    assert provider_of(text) == (whole[1] if whole else None)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text",
    [
        "${" + ":" * MEGABYTE,
        "${" * (MEGABYTE // 2),
        "${a:" * (MEGABYTE // 4),
        "${a}" * (MEGABYTE // 4),
        "${no:b:c}" * (MEGABYTE // 9),
    ],
)
def test_a_value_of_a_megabyte_is_searched_at_once(text: str) -> None:
    # Kafka's pattern takes 7 s for the first of them at 5 kB, and eight times as long for twice the text.
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


def test_a_link_does_not_lead_out_of_the_allowed_paths(tmp_path: Path) -> None:
    allowed, outside = tmp_path / "allowed", tmp_path / "outside"
    allowed.mkdir()
    outside.mkdir()
    (outside / "secrets").write_text("a=b", "utf-8")
    (allowed / "folder").symlink_to(outside)
    (allowed / "secrets").symlink_to(outside / "secrets")
    (allowed / "loop").symlink_to(allowed / "loop")
    worker = WORKER | {
        f"config.providers.{each}.param.allowed.paths": str(allowed) for each in ("file", "dir")
    }
    guarded = Placeholders.from_worker(worker, {})
    for text in (
        f"${{file:{allowed}/secrets:a}}",
        f"${{file:{allowed}/folder/secrets:a}}",
        f"${{dir:{allowed}:secrets}}",
        f"${{dir:{allowed}/folder:secrets}}",
        f"${{dir:{allowed}:loop}}",
    ):
        assert guarded.resolve({"k": text}) == {"k": text}


def test_links_within_the_allowed_paths_are_followed(tmp_path: Path) -> None:
    # As a volume with secrets has them: each name is a link into a folder that a second link names.
    new, volume = tmp_path / "mount", tmp_path / "volume"
    (volume / "..2026").mkdir(parents=True)
    (volume / "..2026/password").write_text("s3cret", "utf-8")
    (volume / "..data").symlink_to("..2026")
    (volume / "password").symlink_to("..data/password")
    new.symlink_to(volume)
    worker = WORKER | {"config.providers.dir.param.allowed.paths": str(new)}
    assert Placeholders.from_worker(worker, {}).resolve({"k": f"${{dir:{new}:password}}"}) == {"k": "s3cret"}


@pytest.mark.timeout(60)
def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", tmp_path / "pipe"):
        message = f"Could not read properties from file {path}: it is no regular file"
        with pytest.raises(ConfigError, match=message):
            resolve(f"${{file:{path}:a}}")
        text = f"${{dir:{Path(path).parent}:{Path(path).name}}}"
        assert resolve(text) == text


def test_a_name_that_no_file_can_have_is_an_error() -> None:
    with pytest.raises(ConfigError, match="no file can have this name"):
        resolve("${file:/tmp/\0:a}")


def test_a_file_longer_than_secrets_are_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "long").open("wb") as file:
        file.truncate(5_000_000)
    with pytest.raises(ConfigError, match="it has more than 4194304 bytes"):
        resolve(f"${{file:{tmp_path}/long:a}}")
    with pytest.raises(ConfigError, match="it has more than 4194304 bytes"):
        resolve(f"${{dir:{tmp_path}:long}}")


def test_a_short_value_that_stands_for_much_is_refused(tmp_path: Path) -> None:
    (tmp_path / "much").write_text("x" * MEGABYTE, "utf-8")
    text = f"${{dir:{tmp_path}:much}}"
    assert len(resolve(text * 8)) == 8 * MEGABYTE
    with pytest.raises(ConfigError, match=f"The value of k, .* longer than {MAX_RESOLVED_CHARACTERS}"):
        resolve(text * 10_000)
    with pytest.raises(ConfigError, match=f"The value of b, .* longer than {MAX_RESOLVED_CHARACTERS}"):
        PLACEHOLDERS.resolve({"a": text * 8, "b": text})


def test_many_files_are_not_more_than_one(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}").write_text("x" * MEGABYTE, "utf-8")
    with pytest.raises(ConfigError, match=r"Could not read file .* for property 4: it has more than"):
        resolve("".join(f"${{dir:{tmp_path}:{number}}}" for number in range(5)))


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


PLUGINS = load_plugins()
JSON = "org.apache.kafka.connect.json.JsonConverter"
ENV = {
    "config.providers": "env",
    "config.providers.env.class": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
}


def errors_of_password(password: str, worker: dict[str, str]) -> list[str]:
    spec = PLUGINS.find("JdbcSource", CONNECTORS)
    config = {
        "name": "shop",
        "connector.class": "JdbcSource",
        "connection.url": "jdbc:postgresql://localhost/shop",
        "connection.password": password,
        "mode": "bulk",
        "topic.prefix": "shop-",
    }
    resolved = Placeholders.from_worker(worker, {"PGPASSWORD": "of-the-shop"}).resolve(config)
    rules = WorkerRules.of({"key.converter": JSON, "value.converter": JSON})
    infos = validate_connector(resolved, spec, PLUGINS, rules, spec.make())
    [errors] = [info.value.errors for info in infos.infos if info.name == "connection.password"]
    return list(errors)


@pytest.mark.parametrize(("name", "worker"), [("PGPASSWORD", {}), ("ABSENT", ENV)])
def test_a_password_that_nobody_looked_up_is_refused_with_the_way_to_have_it(
    name: str, worker: dict[str, str]
) -> None:
    assert errors_of_password(f"${{env:{name}}}", worker) == [
        "connection.password is a placeholder that nobody replaced: the worker has no config provider env, or"
        " that one has no such entry. Set config.providers=env and config.providers.env.class among the"
        " worker properties and give the entry, or write the value itself"
    ]


@pytest.mark.parametrize("password", ["${env:PGPASSWORD}", "secret", "a${env:b", "x${env:PGPASSWORD}y", ""])
def test_any_other_password_is_taken(password: str) -> None:
    assert errors_of_password(password, ENV) == []
