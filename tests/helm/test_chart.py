"""The chart: what it becomes is what Kubernetes takes, and holds what an operator relies on."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
from copycat_launcher.worker_properties import DISTRIBUTED
from copycat_rpc.role import read_properties

from tests.helm.conftest import KUBERNETES, REQUIRED, Document, Render, named

ROLES = ("config", "offset", "status", "scheduler", "executor", "gateway")
SPARK = ("spark.enabled=true", "spark.secret.value=a-long-text", "executor.dataClaim=files")
SPARK_PODS = ("spark-master", "spark-worker")
VALUES: tuple[tuple[str, ...], ...] = (
    (),
    SPARK,
    ("clusterSecret.existingSecret=", "clusterSecret.value=a-long-text"),
    ("executor.autoscaling.enabled=false", "executor.dataClaim=files", "connectorSecret=logins"),
    ("servicesTls.secret=certificates",),
    ("networkPolicies.enabled=false", "gateway.allowedFrom[0].namespaceSelector.matchLabels.team=data"),
    (
        "executor.allowedPorts=null",
        "images.registry=registry.example/copycat",
        f"images.digests.config=sha256:{'a' * 64}",
    ),
)


def pods(documents: list[Document]) -> dict[str, Any]:
    """Return the pods' templates by role."""
    sets = [each for each in documents if each["kind"] in {"StatefulSet", "Deployment"}]
    templates = [each["spec"]["template"] for each in sets]
    return {each["metadata"]["labels"]["app.kubernetes.io/component"]: each for each in templates}


def test_helm_finds_nothing_wrong(run_helm: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    done = run_helm("lint", "--strict")

    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("version", KUBERNETES)
@pytest.mark.parametrize("values", VALUES, ids=lambda values: ",".join(values) or "defaults")
def test_everything_it_makes_is_what_kubernetes_declares(
    render: Render, values: tuple[str, ...], version: str
) -> None:
    documents = render(*values, kubernetes=version)

    for document in documents:
        kubernetes_validate.validate(document, version.rpartition(".")[0], strict=True)


def test_every_role_runs_twice_and_is_drained_one_at_a_time(render: Render) -> None:
    documents = render()

    assert set(pods(documents)) == set(ROLES)
    assert "spark" not in str(documents), "a cluster of Spark is there for those who ask for it"
    for role in ROLES:
        kind = "Deployment" if role == "gateway" else "StatefulSet"
        replicas = named(documents, kind, f"release-copycat-{role}")["spec"].get("replicas")
        assert replicas == (None if role == "executor" else 2), "executors are scaled by their load"
        budget = named(documents, "PodDisruptionBudget", f"release-copycat-{role}")["spec"]
        assert budget["maxUnavailable"] == 1
        assert (
            budget["selector"]["matchLabels"].items() <= pods(documents)[role]["metadata"]["labels"].items()
        )


def test_no_pod_may_more_than_it_needs(render: Render) -> None:
    for role, pod in pods(render(*SPARK)).items():
        spec, [container] = pod["spec"], pod["spec"]["containers"]
        assert spec["securityContext"]["runAsNonRoot"]
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert not spec["automountServiceAccountToken"], role
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert container["resources"]["limits"]["memory"]
        assert {"startupProbe", "livenessProbe", "readinessProbe"} <= container.keys()


def test_the_properties_are_those_that_the_services_take(render: Render, tmp_path: Path) -> None:
    text = named(render(), "ConfigMap", "release-copycat")["data"]["worker.properties"]
    file = tmp_path / "worker.properties"
    file.write_text(text)

    properties = read_properties(file)

    DISTRIBUTED.parse(properties)
    assert properties["bootstrap.servers"] == "kafka-0.kafka:9092,kafka-1.kafka:9092"
    assert properties["cluster.secret"] == "${env:COPYCAT_CLUSTER_SECRET}"
    # A service that finds no such folder does not start; every image has this one.
    assert properties["config.providers.file.param.allowed.paths"] == "/run/secrets"
    assert properties["config.addresses"] == "release-copycat-config:9101"
    assert named(render(), "Service", "release-copycat-config")["spec"]["clusterIP"] == "None"


def test_a_certificate_of_the_services_is_shown_to_each_pod_and_probes_speak_tls(
    render: Render, tmp_path: Path
) -> None:
    documents = render("servicesTls.secret=own-certificate", "servicesTls.serverName=services")
    file = tmp_path / "worker.properties"
    file.write_text(named(documents, "ConfigMap", "release-copycat")["data"]["worker.properties"])

    properties = read_properties(file)

    DISTRIBUTED.parse(properties)
    stores = {properties[f"services.ssl.{store}.location"] for store in ("keystore", "truststore")}
    folder = "/etc/copycat-certificates"
    assert stores == {f"{folder}/tls-combined.pem", f"{folder}/ca.crt"}
    assert properties["services.ssl.server.name"] == "services"
    # What `${file:...}` in a connector's configuration may read is another folder.
    assert not folder.startswith(properties["config.providers.file.param.allowed.paths"])
    for role, pod in pods(documents).items():
        [container] = pod["spec"]["containers"]
        [mounted] = [each["name"] for each in container["volumeMounts"] if each["mountPath"] == folder]
        [volume] = [each for each in pod["spec"]["volumes"] if each["name"] == mounted]
        assert volume["secret"]["secretName"] == "own-certificate"
        command = container["readinessProbe"]["exec"]["command"]
        assert command == ["copycat-worker", "/etc/copycat/worker.properties", "--role", role, "--probe"]


def test_without_a_certificate_kubernetes_asks_services_over_grpc(render: Render) -> None:
    probes = {role: pod["spec"]["containers"][0]["readinessProbe"] for role, pod in pods(render()).items()}

    assert {role for role, probe in probes.items() if "grpc" in probe} == {*ROLES} - {"gateway"}


def test_a_gateway_that_is_asked_to_end_still_answers_who_does_not_know_yet(render: Render) -> None:
    waiting = {role for role, pod in pods(render()).items() if "lifecycle" in pod["spec"]["containers"][0]}

    assert waiting == {"gateway"}


def test_drivers_in_executors_find_the_spark_cluster_and_it_finds_them(
    render: Render, tmp_path: Path
) -> None:
    documents = render(*SPARK, "spark.worker.replicas=3")
    file = tmp_path / "worker.properties"
    file.write_text(named(documents, "ConfigMap", "release-copycat")["data"]["worker.properties"])

    properties = read_properties(file)

    DISTRIBUTED.parse(properties)
    master = properties["spark.drivers.master"]
    assert master == "spark://release-copycat-spark-master:7077"
    service = named(documents, "Service", "release-copycat-spark-master")["spec"]
    assert [port["port"] for port in service["ports"]] == [7077]
    workers = named(documents, "StatefulSet", "release-copycat-spark-worker")["spec"]
    assert workers["replicas"] == 3
    [worker] = workers["template"]["spec"]["containers"]
    assert master in worker["args"]
    assert worker["image"] == "copycat-executor:0.1.0"
    # Partitions find files where executors have them.
    [executor] = pods(documents)["executor"]["spec"]["containers"]
    assert {"name": "data", "mountPath": "/data"} in worker["volumeMounts"]
    files = {"name": "data", "persistentVolumeClaim": {"claimName": "files"}}
    assert files in workers["template"]["spec"]["volumes"]
    assert properties["spark.driver.host"] == "${env:COPYCAT_POD}.release-copycat-executor"
    assert "COPYCAT_SPARK_SECRET" in [each["name"] for each in executor["env"]]


def test_no_pod_but_those_of_the_spark_cluster_and_executors_reaches_it(render: Render) -> None:
    documents = render(*SPARK)

    for role in SPARK_PODS:
        policy = named(documents, "NetworkPolicy", f"release-copycat-{role}")["spec"]
        labels = pods(documents)[role]["metadata"]["labels"]
        assert policy["podSelector"]["matchLabels"].items() <= labels.items()
        [rule] = policy["ingress"]
        spark, executors = (peer["podSelector"]["matchLabels"] for peer in rule["from"])
        assert spark.items() <= labels.items()
        assert executors.items() <= pods(documents)["executor"]["metadata"]["labels"].items()
    of_services, of_spark = named(documents, "NetworkPolicy", "release-copycat-executor")["spec"]["ingress"]
    assert of_spark == {"from": [{"podSelector": {"matchLabels": spark}}]}
    services = of_services["from"][0]["podSelector"]["matchLabels"]
    assert not services.items() <= labels.items(), "what runs on Spark is no service"


def test_the_cluster_secret_stands_in_a_secret_alone(render: Render) -> None:
    documents = render("clusterSecret.existingSecret=", "clusterSecret.value=a-long-text")

    holders = [each["kind"] for each in documents if "a-long-text" in str(each)]

    assert holders == ["Secret"]
    of_spark = [each["kind"] for each in render(*SPARK) if "a-long-text" in str(each)]
    assert of_spark == ["Secret"]
    assert not [each for each in render() if each["kind"] == "Secret"], "one that is there is not made again"


def test_only_pods_of_the_release_reach_grpc(render: Render) -> None:
    documents = render("gateway.allowedFrom[0].namespaceSelector.matchLabels.team=data")

    for role in ROLES:
        [rule] = named(documents, "NetworkPolicy", f"release-copycat-{role}")["spec"]["ingress"]
        peers = rule["from"]
        assert peers[0]["podSelector"]["matchLabels"]["app.kubernetes.io/instance"] == "release"
        assert len(peers) == (2 if role == "gateway" else 1)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (("clusterSecret.value=x",), "kafka.bootstrapServers: name the brokers"),
        (("kafka.bootstrapServers=k:9092",), "clusterSecret: name an existingSecret"),
        (("kafka.bootstrapServers=k:9092", "clusterSecret.value=x", "executors.replicas=2"), "executors"),
        ((*REQUIRED, "spark.enabled=true"), "spark.secret: name an existingSecret"),
    ],
)
def test_what_is_missing_or_misspelt_is_named(
    run_helm: Callable[..., subprocess.CompletedProcess[str]], values: tuple[str, ...], said: str
) -> None:
    done = run_helm("template", "release", "--kube-version", KUBERNETES[0], values=values)

    assert done.returncode != 0
    assert said in done.stderr
