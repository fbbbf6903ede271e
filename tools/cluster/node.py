"""The machine of a cluster: processes with a network, mounts and numbers of their own.

`python -m tools.cluster.node FOLDER` is the first of them; when it ends, all end with it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools.cluster.settings import (
    API,
    CGROUP,
    CONTROLLERS,
    NODE,
    NODE_ADDRESS,
    OUTER_ADDRESS,
    PREFIX,
    SERVICES,
)

WAIT_SECONDS: Final = 120.0
POLL_SECONDS: Final = 0.1
#: A kubelet sets these of the whole machine: here it finds them as it wants them.
KERNEL: Final = {
    "vm/overcommit_memory": "1",
    "vm/panic_on_oom": "0",
    "kernel/panic": "10",
    "kernel/panic_on_oops": "1",
    "kernel/keys/root_maxkeys": "1000000",
    "kernel/keys/root_maxbytes": "25000000",
}
#: Where programs keep what nobody else shall see.
HIDDEN: Final = ("/run", "/var")


def main() -> int:
    """Start every part of the cluster; ends when one of them does, with its name on the error output."""
    folder = Path(sys.argv[1])
    _mount(folder)
    _join_network()
    _make_cgroup()
    started: dict[str, subprocess.Popen[bytes]] = {}
    for name, part in _parts(folder).items():
        started[name] = _start(folder, name, part.command)
        _wait(part.ready, started)
    (folder / "started").touch()
    names = {process.pid: name for name, process in started.items()}
    while True:  # the first process is the parent of whom others leave behind
        ended, status = os.wait()
        if ended in names:
            print(f"{names[ended]} ended: {status}", file=sys.stderr)
            return 1


def _mount(folder: Path) -> None:
    """Use places of our own for what programs keep at usual ones; mounts of pods are seen by all of us."""
    _run("mount", "--make-rshared", "/")
    for place in HIDDEN:
        _run("mount", "-t", "tmpfs", "own", place)
    for place in ("/var/log", "/var/lib", "/run/netns"):
        Path(place).mkdir(parents=True)
    Path("/var/run").symlink_to("/run")
    Path("/var/log/pods").symlink_to(folder / "logs/pods")
    for key, value in KERNEL.items():
        file = folder / "kernel" / key.replace("/", ".")
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"{value}\n")
        if Path(f"/proc/sys/{key}").exists():
            _run("mount", "--bind", str(file), f"/proc/sys/{key}")


def _join_network() -> None:
    """Wait for the cable that our parent plugs in."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not Path("/proc/self/net/dev").read_text().count("eth0:"):
        assert time.monotonic() < deadline, "nobody connected the network"
        time.sleep(POLL_SECONDS)
    _run("ip", "link", "set", "lo", "up")
    _run("ip", "address", "add", f"{NODE_ADDRESS}/{PREFIX}", "dev", "eth0")
    _run("ip", "link", "set", "eth0", "up")
    _run("ip", "route", "add", "default", "via", OUTER_ADDRESS)
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    Path("/proc/sys/net/bridge/bridge-nf-call-iptables").write_text("1")


def _make_cgroup() -> None:
    for controller in CONTROLLERS:
        folder = Path("/sys/fs/cgroup", controller, CGROUP)
        folder.mkdir(exist_ok=True)
        if controller == "cpuset":
            for name in ("cpuset.cpus", "cpuset.mems"):
                (folder / name).write_text((folder.parent / name).read_text())


def _start(folder: Path, name: str, command: Sequence[str]) -> subprocess.Popen[bytes]:
    environment = {"PATH": f"{folder}/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"}
    with (folder / "logs" / f"{name}.log").open("wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, env=environment)


def _wait(ready: Sequence[str], started: Mapping[str, subprocess.Popen[bytes]]) -> None:
    """Wait until a command succeeds.

    Raises:
        AssertionError: It did not, or something that was started has ended.
    """
    deadline = time.monotonic() + WAIT_SECONDS
    while subprocess.run(ready, check=False, capture_output=True).returncode:
        ended = [name for name, process in started.items() if process.poll() is not None]
        assert not ended, f"{ended} ended"
        assert time.monotonic() < deadline, f"the last of {list(started)} is not ready"
        time.sleep(POLL_SECONDS)


def _run(*command: str) -> None:
    subprocess.run(command, check=True)


@dataclass(frozen=True, slots=True)
class _Part:
    """A program that runs as long as its node."""

    command: Sequence[str]
    """The words of the command that starts it."""
    ready: Sequence[str] = ("true",)
    """Succeeds when the next one may start."""


def _parts(folder: Path) -> Mapping[str, _Part]:
    """Return the programs of the node by their names, in the order of their start."""
    containerd = _Part(
        ("containerd", "--config", f"{folder}/containerd.toml"),
        ("ctr", "--address", f"{folder}/run/containerd.sock", "version"),
    )
    coredns = _Part((f"{folder}/bin/coredns", "-conf", f"{folder}/Corefile"))
    return {"containerd": containerd, **_control_plane(folder), **_on_node(folder), "coredns": coredns}


def _control_plane(folder: Path) -> Mapping[str, _Part]:
    node, access = f"{folder}/bin/node", f"--kubeconfig={folder}/inside.conf"
    key, authority = f"{folder}/apiserver.pem", f"{folder}/authority.pem"
    alone = ("--leader-elect=false", "--bind-address=127.0.0.1")
    return {
        "etcd": _Part(
            (node, "etcd", "--data-dir", f"{folder}/etcd", "--unsafe-no-fsync", "--log-level", "warn")
        ),
        "kube-apiserver": _Part(
            (
                *(node, "kube-apiserver", "--etcd-servers=http://127.0.0.1:2379", f"--secure-port={API}"),
                *(f"--advertise-address={NODE_ADDRESS}", f"--service-cluster-ip-range={SERVICES}"),
                *(f"--tls-cert-file={key}", f"--tls-private-key-file={key}"),
                *(f"--client-ca-file={authority}", f"--token-auth-file={folder}/tokens.csv"),
                *("--authorization-mode=RBAC", "--kubelet-preferred-address-types=InternalIP"),
                "--service-account-issuer=https://kubernetes.default.svc",
                *(f"--service-account-key-file={key}", f"--service-account-signing-key-file={key}"),
                *(f"--kubelet-client-certificate={key}", f"--kubelet-client-key={key}"),
            ),
            (node, "kubectl", access, "get", "--raw", "/readyz"),
        ),
        "kube-controller-manager": _Part(
            (
                *(node, "kube-controller-manager", access, *alone),
                *(f"--service-account-private-key-file={key}", f"--root-ca-file={authority}"),
                "--horizontal-pod-autoscaler-sync-period=5s",
            )
        ),
        "kube-scheduler": _Part((node, "kube-scheduler", access, *alone)),
    }


def _on_node(folder: Path) -> Mapping[str, _Part]:
    node, access = f"{folder}/bin/node", f"{folder}/inside.conf"
    return {
        "kubelet": _Part(
            (
                *(node, "kubelet", f"--kubeconfig={access}", f"--config={folder}/kubelet.json"),
                *(f"--root-dir={folder}/kubelet", f"--cert-dir={folder}/kubelet-pki"),
                *(f"--hostname-override={NODE}", f"--node-ip={NODE_ADDRESS}"),
            ),
            (
                *(node, "kubectl", f"--kubeconfig={access}"),
                *("wait", "--for=condition=Ready", f"node/{NODE}", "--timeout=1s"),
            ),
        ),
        "kube-proxy": _Part((node, "kube-proxy", f"--config={folder}/proxy.json")),
        "kube-router": _Part((node, "kube-router", access, NODE, SERVICES)),
    }


if __name__ == "__main__":
    sys.exit(main())
