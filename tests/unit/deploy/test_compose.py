"""The compose files: roles, limits, images, TLS, and that nothing is given away."""

from __future__ import annotations

import os
import re
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from copycat_connect.cluster import is_wildcard
from copycat_connect.config.properties import parse_properties
from copycat_executor.settings import read_settings as read_executor
from copycat_gateway.settings import read_settings as read_gateway
from copycat_launcher.misspelt import warnings_about
from copycat_launcher.roles import GRPC_ROLES, ROLE_BY_NAME, ROLES
from copycat_launcher.worker_properties import DISTRIBUTED, OFFSET_FILE, STANDALONE
from copycat_rest.contexts import own_context
from copycat_rpc.tls import services_tls

from tests.tls_override import COMPOSE, MOUNTED, SCRIPT, guards, shell

DEPLOY = Path(__file__).parents[3] / "deploy"
FILES = ("compose.yaml", "small.yaml", "standalone.yaml", "spark.yaml")
SECRET = ("password", "secret", "jaas", "credential", "token")


def services(file: str) -> dict[str, dict[str, Any]]:
    found = yaml.safe_load((COMPOSE / file).read_text("utf-8"))["services"]
    assert isinstance(found, dict)
    return found


def properties(file: str) -> dict[str, str]:
    return parse_properties((COMPOSE / file).read_text("utf-8"))


#: Those that a file declares whole, not what it changes in others.
EVERY = [
    pytest.param(service, id=f"{file}:{name}")
    for file in FILES
    for name, service in services(file).items()
    if "image" in service
]
OURS = [each for each in EVERY if each.id != "compose.yaml:kafka"]


def targets() -> list[str]:
    """Return the stages of the Dockerfile."""
    lines = (DEPLOY / "images" / "Dockerfile").read_text("utf-8").splitlines()
    return [line.split()[-1] for line in lines if line.startswith("FROM ")]


def test_every_role_is_a_service_of_its_own_and_there_are_two_executors() -> None:
    built = [
        service["build"]["target"] for service in services("compose.yaml").values() if "build" in service
    ]
    assert sorted(built) == sorted([*ROLE_BY_NAME, "executor"])


def test_the_dockerfile_has_a_target_for_every_role() -> None:
    assert {*ROLE_BY_NAME, "worker"} <= set(targets())


@pytest.mark.parametrize("service", EVERY)
@pytest.mark.row("K26-58", "K26-59")
def test_each_container_has_limits_a_restart_policy_and_a_health_check(service: dict[str, Any]) -> None:
    assert service["mem_limit"]
    assert 0 < service["cpus"] <= 1
    assert service["pids_limit"] > 0
    assert service["restart"] == "unless-stopped"
    assert service["healthcheck"]["test"][0] == "CMD"


@pytest.mark.parametrize("service", OURS)
def test_each_of_ours_is_built_from_the_dockerfile_and_may_do_little(service: dict[str, Any]) -> None:
    assert service["build"]["target"] in targets()
    assert (COMPOSE / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "--probe" in service["healthcheck"]["test"] or service["command"][0] == "spark-class"
    # Spark loads what it unpacks there, where connectors run; they may execute what they write to /data, too.
    [temporary] = service["tmpfs"]
    assert temporary.endswith(":exec") == ("data:/data" in service["volumes"])
    for volume in service["volumes"]:
        source = volume.split(":")[0]
        assert not source.startswith(".") or (COMPOSE / source).exists()


def test_a_service_is_probed_in_its_own_role() -> None:
    for service in services("compose.yaml").values():
        if "build" in service:
            test = service["healthcheck"]["test"]
            assert test[test.index("--role") + 1] == service["build"]["target"]


@pytest.mark.parametrize("service", EVERY)
def test_what_is_published_is_on_loopback(service: dict[str, Any]) -> None:
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))


@pytest.mark.parametrize("file", ["worker.properties", "small.properties"])
def test_a_cluster_finds_its_services_where_they_listen(file: str) -> None:
    given = properties(file)
    DISTRIBUTED.parse(given)
    read_gateway(given)
    names = {**services("compose.yaml"), **services("small.yaml")}
    for role in GRPC_ROLES:
        host, port = given[role.listen_key].rsplit(":", 1)
        assert is_wildcard(host)
        if role.name != "executor":
            where, known = given[f"{role.name}.addresses"].rsplit(":", 1)
            assert (where in names, known) == (True, port)
    assert read_executor(given).advertised == ""  # known by its container's host name


def test_executors_have_the_host_name_they_are_known_by() -> None:
    for file in ("compose.yaml", "small.yaml"):
        for name, service in services(file).items():
            if service.get("build", {}).get("target") in {"executor", "worker"}:
                assert service["hostname"] == name


@pytest.mark.row("K26-58")
def test_two_clusters_on_one_kafka_share_nothing() -> None:
    first, second = properties("worker.properties"), properties("small.properties")
    own = ["group.id", *(key for key in first if key.endswith(".storage.topic"))]
    assert len(own) == 5
    assert not {first[key] for key in own} & {second[key] for key in own}


@pytest.mark.row("K26-59")
def test_the_standalone_worker_keeps_its_offsets_on_a_volume() -> None:
    given = properties("standalone.properties")
    STANDALONE.parse(given)
    mounted = [volume.split(":")[1] for volume in services("standalone.yaml")["standalone"]["volumes"]]
    assert str(Path(given[OFFSET_FILE]).parent) in mounted


@pytest.mark.parametrize("file", [path.name for path in sorted(COMPOSE.glob("*.properties"))])
def test_no_secret_is_written_down(file: str) -> None:
    for line in (COMPOSE / file).read_text("utf-8").splitlines():
        key, separator, value = line.lstrip("#").partition("=")
        if separator and any(word in key.lower() for word in SECRET):
            assert value == "" or value.startswith("${"), line


def test_roles_are_what_the_launcher_knows() -> None:
    assert [role.name for role in ROLES if role.name not in targets()] == []


def test_executors_that_use_spark_have_their_properties_and_those_of_its_cluster() -> None:
    plain, given = properties("worker.properties"), properties("spark.properties")

    assert {key for key in given if given[key] != plain.get(key)} == {key for key in given if "spark." in key}
    assert set(plain) <= set(given)
    DISTRIBUTED.parse(given)
    read_executor(given)
    assert list(warnings_about(given)) == []


def test_drivers_find_the_master_and_workers_of_spark_find_drivers_and_files() -> None:
    given, declared = properties("spark.properties"), services("spark.yaml")
    executors = {name: each for name, each in declared.items() if name.startswith("executor-")}
    workers = {name: each for name, each in declared.items() if name.startswith("spark-worker-")}

    assert set(executors) == {name for name in services("compose.yaml") if name.startswith("executor-")}
    for name, executor in executors.items():
        assert given["spark.driver.host"] == "${env:COPYCAT_HOST}"
        assert executor["environment"]["COPYCAT_HOST"] == name
        own, *_ = executor["volumes"]
        assert own == "./spark.properties:/etc/copycat/worker.properties:ro"
    assert len(workers) == 2
    for worker in workers.values():
        assert given["spark.drivers.master"] in worker["command"]
        assert {"data:/data", "../examples:/examples:ro"} <= set(worker["volumes"])


def test_all_of_spark_and_the_executors_know_one_secret_that_must_be_given() -> None:
    declared = services("spark.yaml")

    for name, service in declared.items():
        key = "COPYCAT_SPARK_SECRET" if name.startswith("executor-") else "_SPARK_AUTH_SECRET"
        assert service["environment"][key].startswith("${COPYCAT_SPARK_SECRET:?")
    for name in ("spark-master", "spark-worker-1", "spark-worker-2"):
        assert "-Dspark.authenticate=true" in declared[name]["environment"]["SPARK_DAEMON_JAVA_OPTS"]
    assert properties("spark.properties")["spark.authenticate.secret"] == "${env:COPYCAT_SPARK_SECRET}"


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


ROOT = Path(__file__).parents[3]


def test_the_image_of_executors_has_every_distribution_of_plugins() -> None:
    shipped = {
        project["name"]
        for path in ROOT.glob("libs/*/pyproject.toml")
        if "copycat.plugins"
        in (project := tomllib.loads(path.read_text())["project"]).get("entry-points", {})
    }
    executor = tomllib.loads((ROOT / "services/executor/pyproject.toml").read_text())["project"]
    (line,) = re.findall(r'EXECUTOR="([^"]+)"', (ROOT / "deploy/images/Dockerfile").read_text())
    assert shipped <= {*line.split(), *executor["dependencies"]}
    assert "copycat-jdbc" in shipped
