"""The cluster that the chart is tried in: the one KUBECONFIG leads to, or one of our own."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tools.cluster.images import archive
from tools.cluster.own import running_node
from tools.cluster.programs import node_program

KUBECONFIG: Final = "KUBECONFIG"
#: Where a cluster that was there finds the images: <registry>/copycat-<role>:<tag>, and copycat-kafka.
REGISTRY: Final = "COPYCAT_CLUSTER_REGISTRY"
#: A class of volumes there that many pods may write to.
STORAGE_CLASS: Final = "COPYCAT_CLUSTER_STORAGE_CLASS"
CALL_SECONDS: Final = 300.0


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster, with all rights in it."""

    kubeconfig: str
    program: Sequence[str]
    """The program that is called as kubectl."""
    registry: str
    """What names of images begin with."""
    storage_class: str
    """Of volumes that many pods write to."""
    data: str = ""
    """A folder of the only node that anybody may write to, where the class has no volumes of its own."""

    def kubectl(self, *words: str, text: str = "", check: bool = True) -> str:
        """Run kubectl and return what it said; `text` is its input.

        Raises:
            AssertionError: It failed, unless that is what the caller looks at.
        """
        done = subprocess.run(
            [*self.program, f"--kubeconfig={self.kubeconfig}", *words],
            input=text,
            capture_output=True,
            text=True,
            timeout=CALL_SECONDS,
            check=False,
        )
        assert done.returncode == 0 or not check, f"kubectl {' '.join(words)}: {done.stderr}"
        return done.stdout if check else done.stdout + done.stderr

    def get(self, *words: str) -> dict[str, Any]:
        """Return an object, or a list of objects."""
        found: dict[str, Any] = json.loads(self.kubectl("get", *words, "--output=json"))
        return found

    def image(self, name: str) -> str:
        """Return what an image is called here."""
        return f"{self.registry.rstrip('/')}/{name}:latest" if self.registry else f"{name}:latest"


@contextmanager
def running_cluster() -> Iterator[Cluster]:
    """Give the cluster of KUBECONFIG, or one of one node that ends with us.

    The latter takes root, and the first time half an hour.
    """
    if given := os.environ.get(KUBECONFIG):
        registry, storage_class = os.environ.get(REGISTRY, ""), os.environ.get(STORAGE_CLASS, "")
        yield Cluster(given, ["kubectl"], registry, storage_class)
        return
    program = [str(node_program()), "kubectl"]
    with running_node(archive()) as folder:
        cluster = Cluster(str(folder / "outside.conf"), program, "", "of-one-node", str(folder / "data"))
        try:
            yield cluster
        finally:
            _keep_events(cluster, folder / "logs")


def _keep_events(cluster: Cluster, logs: Path) -> None:
    """Write down what the cluster says of itself: with it, that is gone."""
    for what in ("events", "pods", "nodes", "statefulsets", "horizontalpodautoscalers"):
        said = cluster.kubectl("get", what, "--all-namespaces", "--output=wide", check=False)
        (logs / f"{what}.txt").write_text(said)
    (logs / "described.txt").write_text(cluster.kubectl("describe", "pods", "--all-namespaces", check=False))
