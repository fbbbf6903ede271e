"""The programs of a cluster: built from their Go modules once for each user, and from Debian's packages."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from copycat_testkit.debian import install, unpack
from copycat_testkit.go_programs import built_once, go_build

KUBERNETES: Final = "1.34.4"
SOURCES: Final = Path(__file__).parent / "programs"
#: Packages, and a program that says that they are installed; the engine of Docker brings all but the cable's.
INSTALLED: Final = {
    "containerd": "/usr/bin/containerd",
    "iptables": "/usr/sbin/iptables",
    "iproute2": "/usr/sbin/ip",
    "ipset": "/usr/sbin/ipset",
}
NETWORK_PLUGINS: Final = "containernetworking-plugins"


def put_programs(folder: Path) -> None:
    """Put the programs of a node into a folder, building and installing those that are not there yet.

    Raises:
        CalledProcessError: A registry cannot be reached.
    """
    for package, program in INSTALLED.items():
        if not Path(program).exists():
            install(package)
    unpack(NETWORK_PLUGINS, folder / "debian")
    (folder / "bin").mkdir()
    for name, built in (("node", node_program()), ("coredns", dns_program())):
        (folder / "bin" / name).symlink_to(built)
    (folder / "cni-bin").symlink_to(folder / "debian/usr/lib/cni")


def node_program() -> Path:
    """Return every part of Kubernetes, etcd and kube-router's network policies as one program."""
    return _built("node", _versioned())


def dns_program() -> Path:
    """Return CoreDNS with the plugins that a cluster needs."""
    return _built("dns")


def pause_program() -> Path:
    """Return the program of the container that holds a pod's network: it waits for its end."""
    return _built("pause")


def _built(name: str, variables: Mapping[str, str] | None = None) -> Path:
    source = SOURCES / name
    content = b"".join(file.read_bytes() for file in sorted(source.iterdir()))
    mark = hashlib.sha256(content).hexdigest()[:12]
    flags = " ".join(["-s", "-w", *(f"-X {key}={value}" for key, value in (variables or {}).items())])
    return built_once(f"cluster-{name}-{mark}", lambda place: go_build(source, place, "-ldflags", flags))


def _versioned() -> Mapping[str, str]:
    """Return what a build of Kubernetes says of itself: clients ask for it."""
    major, minor, _ = KUBERNETES.split(".")
    said = {
        "gitVersion": f"v{KUBERNETES}",
        "gitMajor": major,
        "gitMinor": minor,
        "gitTreeState": "clean",
        "buildDate": "2026-01-01T00:00:00Z",
    }
    packages: Sequence[str] = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    return {f"{package}.{key}": value for package in packages for key, value in said.items()}


if __name__ == "__main__":
    for program in (node_program(), dns_program(), pause_program()):
        print(program)
