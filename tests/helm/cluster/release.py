"""The chart, installed in a cluster, and what a test does with it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from copycat_testkit.certificates import Authority
from copycat_testkit.kafka import wait_until

from tests.helm.conftest import CHART
from tools.cluster.cluster import Cluster

NAMESPACE: Final = "copycat"
CERTIFICATES: Final = "certificates"
#: Prints what a service shows to whoever connects.
SHOWN: Final = "import ssl; print(ssl.get_server_certificate(('copycat-{role}', {port})))"
HELM_SECONDS: Final = 400
READY_SECONDS: Final = 240.0
#: One broker; small executors, so that all fit on a node of two processors.
VALUES: Final = (
    "images.tag=latest",
    "clusterSecret.existingSecret=copycat-cluster",
    "kafka.bootstrapServers=kafka.kafka:9092",
    *(
        f"properties.{name}\\.storage\\.replication\\.factor=1"
        for name in ("config", "offset", "status", "assignment")
    ),
    "properties.offset\\.flush\\.interval\\.ms=1000",
    "executor.dataClaim=files",
    "connectorSecret=places",
    f"servicesTls.secret={CERTIFICATES}",
    "servicesTls.serverName=localhost",
    "executor.autoscaling.minReplicas=2",
    "executor.resources.requests.cpu=100m",
    "executor.resources.requests.memory=512Mi",
    "gateway.allowedFrom[0].podSelector.matchLabels.app=client",
)
ROLES: Final = {"config": 2, "offset": 2, "status": 2, "scheduler": 2, "executor": 2, "gateway": 2}


class Release:
    """A release called `copycat` in a namespace of that name."""

    def __init__(self, cluster: Cluster, helm: Path) -> None:
        """Nothing is installed yet."""
        self.cluster = cluster
        self._helm = helm

    def helm(self, verb: str, *values: str) -> str:
        """Install or upgrade with values beyond the usual ones, and wait until all is ready."""
        settings = [word for value in (*VALUES, *values) for word in ("--set", value)]
        registry = self.cluster.registry
        return self._run(
            verb, "copycat", str(CHART), "--wait", f"--timeout={HELM_SECONDS}s",
            *settings, "--set", f"images.registry={registry}",
        )  # fmt: skip

    def uninstall(self) -> None:
        """Remove it, and wait until its pods have ended."""
        self._run("uninstall", "copycat", "--wait", "--timeout=180s")

    def kubectl(self, *words: str, text: str = "") -> str:
        """Run kubectl in the namespace."""
        return self.cluster.kubectl(f"--namespace={NAMESPACE}", *words, text=text)

    def get(self, *words: str) -> dict[str, Any]:
        """Return an object, or a list of objects, of the namespace."""
        return self.cluster.get(f"--namespace={NAMESPACE}", *words)

    def certify(self, authority: Authority) -> None:
        """Have the services show a new certificate."""
        files = (f"tls-combined.pem={authority.pem('service')}", f"ca.crt={authority.file}")
        given = (f"--from-file={each}" for each in files)
        secret = self.kubectl(
            "create", "secret", "generic", CERTIFICATES, *given, "--dry-run=client", "--output=yaml"
        )
        self.kubectl("apply", "--filename=-", text=secret)

    def shown(self, role: str, port: int) -> str:
        """Return the certificate, as PEM, that another pod of the release meets."""
        program = SHOWN.format(role=role, port=port)
        return self.kubectl("exec", "copycat-executor-0", "--", "python", "-c", program)

    def pods(self, role: str = "") -> list[dict[str, Any]]:
        """Return the pods of the release, or of a role."""
        selector = "app.kubernetes.io/instance=copycat" + (
            f",app.kubernetes.io/component={role}" if role else ""
        )
        items: list[dict[str, Any]] = self.get("pods", "--selector", selector)["items"]
        return items

    def call(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Call REST as a client within the cluster; return the status and what was answered."""
        text = "" if body is None else json.dumps(body)
        said = self.kubectl(
            "exec", "-i", "client", "--", "python", "/scripts/call.py", method, path, text=text
        )
        status, _, answer = said.partition("\n")
        return int(status), json.loads(answer) if answer.strip() else None

    def create(self, name: str, config: dict[str, str]) -> None:
        """Create a connector, waiting while the cluster is busy, and wait until its task runs."""
        wait_until(
            lambda: self.call("PUT", f"/connectors/{name}/config", config)[0] in {200, 201},
            READY_SECONDS,
            f"{name} can be created",
        )
        wait_until(lambda: self.worker_of(name), READY_SECONDS, f"{name} runs")

    def worker_of(self, name: str) -> str:
        """Return the worker of a connector's first task, or nothing while it does not run."""
        status, answer = self.call("GET", f"/connectors/{name}/status")
        tasks = answer["tasks"] if status == 200 else []
        return str(tasks[0]["worker_id"]) if tasks and tasks[0]["state"] == "RUNNING" else ""

    def lines(self, file: str) -> list[str]:
        """Return the lines of a file that the executors share."""
        return self.kubectl("exec", "client", "--", "cat", f"/data/{file}").splitlines()

    def wait_moving(self) -> None:
        """Wait until lines that are written from now on arrive."""
        newest = self.lines("in.txt")[-1]
        wait_until(lambda: newest in set(self.lines("out.txt")), READY_SECONDS, f"line {newest} arrives")

    def wait_ready(self) -> None:
        """Wait until every pod of the release is there and ready."""
        wait_until(lambda: not self.unready(), READY_SECONDS, "all pods are ready")

    def unready(self) -> list[str]:
        """Name the pods that are missing or not ready."""
        return [
            f"{role}: {len(ready)} of {number}"
            for role, number in ROLES.items()
            if len(ready := [each for each in self.pods(role) if is_ready(each)]) != number
        ]

    def evict(self, pod: str) -> str:
        """Ask for the eviction of a pod, as whoever drains a node does; return why not, if it is refused."""
        name = {"name": pod, "namespace": NAMESPACE}
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": name}
        place = f"/api/v1/namespaces/{NAMESPACE}/pods/{pod}/eviction"
        said = self.cluster.kubectl(
            "create", f"--raw={place}", "--filename=-", text=json.dumps(body), check=False
        )
        return "" if '"Success"' in said else said

    def _run(self, *words: str) -> str:
        place = (f"--kubeconfig={self.cluster.kubeconfig}", f"--namespace={NAMESPACE}")
        done = subprocess.run(
            [str(self._helm), *place, *words], capture_output=True, text=True, timeout=600, check=False
        )
        assert done.returncode == 0, f"helm {words[0]}: {done.stderr}"
        return done.stdout


def is_ready(pod: dict[str, Any]) -> bool:
    """Tell whether a pod serves, and is not on its way out."""
    conditions: Iterable[dict[str, Any]] = pod["status"].get("conditions", [])
    ready = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
    return ready and "deletionTimestamp" not in pod["metadata"]
