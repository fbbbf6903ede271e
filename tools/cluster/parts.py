"""The programs of a node, and how each is called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.cluster.settings import API, NODE, NODE_ADDRESS, SERVICES


@dataclass(frozen=True, slots=True)
class Part:
    """A program that runs as long as its node."""

    command: Sequence[str]
    """The words of the command that starts it."""
    ready: Sequence[str] = ("true",)
    """Succeeds when the next one may start."""


def parts(folder: Path) -> Mapping[str, Part]:
    """Return them by their names, in the order of their start."""
    containerd = Part(
        ("containerd", "--config", f"{folder}/containerd.toml"),
        ("ctr", "--address", f"{folder}/run/containerd.sock", "version"),
    )
    coredns = Part((f"{folder}/bin/coredns", "-conf", f"{folder}/Corefile"))
    return {"containerd": containerd, **_control_plane(folder), **_on_node(folder), "coredns": coredns}


def _control_plane(folder: Path) -> Mapping[str, Part]:
    node, access = f"{folder}/bin/node", f"--kubeconfig={folder}/inside.conf"
    key, authority = f"{folder}/apiserver.pem", f"{folder}/authority.pem"
    alone = ("--leader-elect=false", "--bind-address=127.0.0.1")
    return {
        "etcd": Part(
            (node, "etcd", "--data-dir", f"{folder}/etcd", "--unsafe-no-fsync", "--log-level", "warn")
        ),
        "kube-apiserver": Part(
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
        "kube-controller-manager": Part(
            (
                *(node, "kube-controller-manager", access, *alone),
                *(f"--service-account-private-key-file={key}", f"--root-ca-file={authority}"),
                "--horizontal-pod-autoscaler-sync-period=5s",
            )
        ),
        "kube-scheduler": Part((node, "kube-scheduler", access, *alone)),
    }


def _on_node(folder: Path) -> Mapping[str, Part]:
    node, access = f"{folder}/bin/node", f"{folder}/inside.conf"
    return {
        "kubelet": Part(
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
        "kube-proxy": Part((node, "kube-proxy", f"--config={folder}/proxy.json")),
        "kube-router": Part((node, "kube-router", access, NODE, SERVICES)),
    }
