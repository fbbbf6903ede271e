"""The cluster that the chart is tried in: the one KUBECONFIG leads to, or one of one node on this machine.

The latter is real Kubernetes, apart from the machine's network and processes.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from copycat_testkit.certificates import Authority
from copycat_testkit.debian import one_at_a_time
from copycat_testkit.kafka import wait_until

from tools.cluster import settings
from tools.cluster.images import archive
from tools.cluster.programs import node_program, put_programs

KUBECONFIG: Final = "KUBECONFIG"
#: Where a cluster that was there finds the images: <registry>/copycat-<role>:<tag>, and copycat-kafka.
REGISTRY: Final = "COPYCAT_CLUSTER_REGISTRY"
#: A class of volumes there that many pods may write to.
STORAGE_CLASS: Final = "COPYCAT_CLUSTER_STORAGE_CLASS"
CALL_SECONDS: Final = 300.0
ROOT: Final = Path(__file__).resolve().parents[2]
LOGS: Final = ROOT / "build/cluster/logs"
READY_SECONDS: Final = 180.0
STOP_SECONDS: Final = 60.0
CABLE: Final = "copycat-node"
FOLDER: Final = "copycat-node-"
IP: Final = "/usr/sbin/ip"
#: Ends with us, whatever ends us.
APART: Final = (
    *("setpriv", "--pdeathsig", "KILL"),
    *("unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"),
)


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
    with _running_node(archive()) as folder:
        cluster = Cluster(str(folder / "outside.conf"), program, "", "of-one-node", str(folder / "data"))
        try:
            yield cluster
        finally:
            _keep_events(cluster, folder / "logs")


def _keep_events(cluster: Cluster, logs: Path) -> None:
    """Write the events and objects of the cluster to its logs, before it is gone."""
    for what in ("events", "pods", "nodes", "statefulsets", "horizontalpodautoscalers"):
        listed = cluster.kubectl("get", what, "--all-namespaces", "--output=wide", check=False)
        (logs / f"{what}.txt").write_text(listed)
    (logs / "described.txt").write_text(cluster.kubectl("describe", "pods", "--all-namespaces", check=False))


@contextmanager
def _running_node(images: Path) -> Iterator[Path]:
    """Start it with the images of an archive, and give the folder it lives in; needs root.

    Raises:
        AssertionError: A part of it did not start; its output is in build/cluster/logs.
    """
    with one_at_a_time("cluster"), _folder() as folder:
        _prepare(folder)
        with (folder / "logs/node.log").open("wb") as log:
            command = [*APART, sys.executable, "-m", "tools.cluster.node", str(folder)]
            process = subprocess.Popen(command, stdout=log, stderr=log, cwd=ROOT, start_new_session=True)
        try:
            _plug_in(process)
            wait_until(lambda: _started(folder, process), READY_SECONDS, "the cluster starts")
            _load(folder, images)
            yield folder
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait(STOP_SECONDS)
            _remove_cable()
            _remove_cgroups()
            shutil.rmtree(LOGS, ignore_errors=True)
            shutil.copytree(folder / "logs", LOGS)


@contextmanager
def _folder() -> Iterator[Path]:
    """Give a new folder, after what is left of a run that was killed is gone."""
    _remove_cable()
    _remove_cgroups()
    for former in Path(tempfile.gettempdir()).glob(f"{FOLDER}*"):
        shutil.rmtree(former)
    with tempfile.TemporaryDirectory(prefix=FOLDER) as place:  # a socket's path has room for 107 letters
        yield Path(place)


def _prepare(folder: Path) -> None:
    folder.chmod(0o755)  # pods find their volumes below
    for name in ("logs/pods", "run", "kernel", "data"):
        (folder / name).mkdir(parents=True)
    (folder / "data").chmod(0o777)
    put_programs(folder)
    authority = Authority(folder)
    authority.pem("apiserver")
    settings.write(folder)


def _plug_in(process: subprocess.Popen[bytes]) -> None:
    inner = wait_until(lambda: _child(process), READY_SECONDS, "the node's first process")
    wait_until(lambda: _network(inner) != _network(os.getpid()), READY_SECONDS, "its own network")
    _run(IP, "link", "add", CABLE, "type", "veth", "peer", "name", "eth0", "netns", str(inner))
    _run(IP, "address", "add", f"{settings.OUTER_ADDRESS}/{settings.PREFIX}", "dev", CABLE)
    _run(IP, "link", "set", CABLE, "up")


def _child(process: subprocess.Popen[bytes]) -> int:
    assert process.poll() is None, "the node ended"
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return int(children[0]) if children else 0


def _network(pid: int) -> str:
    return str(Path(f"/proc/{pid}/ns/net").readlink())


def _started(folder: Path, process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None, f"the node ended: {(folder / 'logs/node.log').read_text()}"
    return (folder / "started").exists()


def _load(folder: Path, images: Path) -> None:
    socket = str(folder / "run/containerd.sock")
    _run("ctr", "--address", socket, "--namespace", "k8s.io", "images", "import", str(images))


def _remove_cable() -> None:
    subprocess.run([IP, "link", "delete", CABLE], check=False, capture_output=True)


def _remove_cgroups() -> None:
    """Remove the cgroups, the deepest first; the processes in them are dead, or about to be."""
    for top in Path("/sys/fs/cgroup").glob(f"*/{settings.CGROUP}"):
        wait_until(partial(_emptied, top), STOP_SECONDS, f"{top} is empty")


def _emptied(top: Path) -> bool:
    with suppress(OSError):  # one that still holds a dying process
        for folder in sorted((each for each in top.rglob("*") if each.is_dir()), reverse=True):
            folder.rmdir()
        if top.exists():
            top.rmdir()
        return True
    return False


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
