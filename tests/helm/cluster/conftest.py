"""One cluster with the chart in it for all tests of this folder, and lines that flow through it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from copycat_testkit.certificates import Authority
from copycat_testkit.kafka import wait_until

from tests.helm.cluster.release import NAMESPACE, READY_SECONDS, Release, is_ready
from tools.cluster.cluster import Cluster, running_cluster

HERE: Final = Path(__file__).parent
KAFKA: Final = HERE.parents[2] / "tools/cluster/kafka.yaml"
#: From a secret that executors have and no other role.
TOPIC: Final = "${file:/run/secrets/copycat/connector.properties:topic}"
SOURCE: Final = {
    "connector.class": "FileStreamSource",
    "tasks.max": "1",
    "file": "/data/in.txt",
    "topic": TOPIC,
}
SINK: Final = {
    "connector.class": "FileStreamSink",
    "tasks.max": "1",
    "file": "/data/out.txt",
    "topics": "lines",
}


@pytest.fixture(scope="package")
def cluster() -> Iterator[Cluster]:
    with running_cluster() as cluster:
        yield cluster


@pytest.fixture(scope="package")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """Signs the certificates that the services show each other."""
    return Authority(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="package")
def release(cluster: Cluster, helm: Path, authority: Authority) -> Iterator[Release]:
    """Install the chart beside a broker and a client, in a namespace that forbids all it can."""
    release = Release(cluster, helm)
    try:
        _prepare(cluster, release)
        release.certify(authority)
        release.helm("install")
        yield release
        release.uninstall()
        wait_until(lambda: not release.pods(), READY_SECONDS, "its pods have ended")
    finally:
        cluster.kubectl("delete", "namespace", NAMESPACE, "elsewhere", "kafka", "--wait=false", check=False)


@pytest.fixture(scope="package")
def flow(release: Release) -> Iterator[Release]:
    """Lines go from a file through Kafka into another one; in the end all of them must have arrived."""
    release.create("lines-source", SOURCE)
    release.create("lines-sink", SINK)
    release.wait_moving()
    yield release
    release.kubectl("exec", "client", "--", "sh", "-c", "> /data/stop")
    release.wait_moving()
    written, arrived = release.lines("in.txt"), release.lines("out.txt")
    assert set(arrived) == set(written)


def _prepare(cluster: Cluster, release: Release) -> None:
    broker = KAFKA.read_text().replace("IMAGE", cluster.image("copycat-kafka"))
    cluster.kubectl("apply", "--filename=-", text=broker)
    around = (HERE / "manifests.yaml").read_text().replace("IMAGE", cluster.image("copycat-config"))
    if cluster.data:
        volume = (HERE / "volume.yaml").read_text().replace("DATA", cluster.data)
        cluster.kubectl("apply", "--filename=-", text=volume.replace("CLASS", cluster.storage_class))
    cluster.kubectl("apply", "--filename=-", text=around.replace("CLASS", cluster.storage_class))
    release.kubectl("create", "configmap", "scripts", f"--from-file={HERE / 'scripts'}")
    for namespace, pod in (("kafka", "kafka-0"), (NAMESPACE, "client"), ("elsewhere", "stranger")):
        wait_until(partial(_serves, cluster, namespace, pod), READY_SECONDS, f"{pod} is ready")


def _serves(cluster: Cluster, namespace: str, pod: str) -> bool:
    found = cluster.get("pods", f"--namespace={namespace}", f"--field-selector=metadata.name={pod}")
    return any(map(is_ready, found["items"]))
