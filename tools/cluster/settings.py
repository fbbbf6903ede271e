"""The files that the parts of a cluster read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

NODE: Final = "node-1"
#: A cable between the machine and the node; pods and services are known on the node alone.
OUTER_ADDRESS, NODE_ADDRESS, PREFIX = "10.213.0.1", "10.213.0.2", 30
PODS: Final = "10.214.0.0/24"
SERVICES: Final = "10.215.0.0/24"
DOMAIN: Final = "cluster.local"
CGROUP: Final = "copycat-cluster"
CONTROLLERS: Final = ("cpu", "cpuacct", "cpuset", "memory", "pids", "blkio", "devices", "freezer", "systemd")
TOKEN: Final = "of-a-cluster-that-nobody-else-reaches"  # noqa: S105 - guards nothing
API: Final = 6443
#: Of containerd: what they stand on is not here.
UNUSED: Final = ("btrfs", "zfs", "devmapper")


def kubeconfig(folder: Path, address: str) -> str:
    """Return how a client with all rights reaches the cluster at an address."""
    cluster = {
        "server": f"https://{address}:{API}",
        "certificate-authority": f"{folder}/authority.pem",
        "tls-server-name": "localhost",
    }
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "own",
            "clusters": [{"name": "own", "cluster": cluster}],
            "users": [{"name": "own", "user": {"token": TOKEN}}],
            "contexts": [{"name": "own", "context": {"cluster": "own", "user": "own"}}],
        }
    )


def write(folder: Path) -> None:
    """Write the files that the parts of a cluster read."""
    (folder / "tokens.csv").write_text(f"{TOKEN},owner,1,system:masters\n")
    (folder / "inside.conf").write_text(kubeconfig(folder, "127.0.0.1"))
    (folder / "outside.conf").write_text(kubeconfig(folder, NODE_ADDRESS))
    (folder / "resolv.conf").write_text(f"nameserver {NODE_ADDRESS}\n")
    _write(folder / "kubelet.json", _kubelet(folder))
    _write(folder / "proxy.json", _proxy(folder))
    _write(folder / "cni/10-own.conflist", _cni())
    (folder / "containerd.toml").write_text(_containerd(folder))
    (folder / "Corefile").write_text(
        f"{DOMAIN}:53 {{\n errors\n cache 5\n"
        f" kubernetes {DOMAIN} {{\n  kubeconfig {folder}/inside.conf\n  ttl 5\n }}\n}}\n"
    )


def _write(file: Path, content: Mapping[str, Any]) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(content))


def _kubelet(folder: Path) -> Mapping[str, Any]:
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": False},
            "x509": {"clientCAFile": f"{folder}/authority.pem"},
        },
        "authorization": {"mode": "AlwaysAllow"},
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{CGROUP}",
        "containerRuntimeEndpoint": f"unix://{folder}/run/containerd.sock",
        "clusterDNS": [NODE_ADDRESS],
        "clusterDomain": DOMAIN,
        "resolvConf": f"{folder}/resolv.conf",
        "failSwapOn": False,
        "volumePluginDir": f"{folder}/kubelet-plugins",
        # The disk is that of the whole machine: how full it is, is not for a kubelet to mend.
        "imageGCHighThresholdPercent": 100,
        "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
        "evictionPressureTransitionPeriod": "5s",
    }


def _proxy(folder: Path) -> Mapping[str, Any]:
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "clientConnection": {"kubeconfig": f"{folder}/inside.conf"},
        "hostnameOverride": NODE,
        "mode": "iptables",
        "clusterCIDR": PODS,
        "conntrack": {"maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"},
    }


def _cni() -> Mapping[str, Any]:
    return {
        "cniVersion": "0.4.0",
        "name": "own",
        "plugins": [
            {
                "type": "bridge",
                "bridge": "pods",
                "isDefaultGateway": True,
                "ipMasq": True,
                "hairpinMode": True,
                "ipam": {"type": "host-local", "ranges": [[{"subnet": PODS}]]},
            },
            {"type": "portmap", "capabilities": {"portMappings": True}},
        ],
    }


def _containerd(folder: Path) -> str:
    cri = "io.containerd.grpc.v1.cri"
    return f"""
version = 2
root = "{folder}/containerd"
state = "{folder}/run/containerd"
disabled_plugins = [{", ".join(f'"io.containerd.snapshotter.v1.{each}"' for each in UNUSED)}]
[grpc]
address = "{folder}/run/containerd.sock"
[plugins."{cri}"]
sandbox_image = "docker.io/library/copycat-pause:latest"
disable_apparmor = true
restrict_oom_score_adj = true
[plugins."{cri}".cni]
bin_dir = "{folder}/cni-bin"
conf_dir = "{folder}/cni"
[plugins."{cri}".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."{cri}".containerd.runtimes.runc.options]
SystemdCgroup = false
"""
