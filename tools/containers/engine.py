"""A Docker engine: the one that is there, or one of our own that ends with us.

Our own keeps its images in build/docker, so that only the first start builds them all.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import docker
import psutil
from copycat_testkit.debian import install, one_at_a_time
from copycat_testkit.kafka import wait_until
from docker.errors import DockerException

ROOT: Final = Path(__file__).resolve().parents[2]
FOLDER: Final = ROOT / "build/docker"
DATA: Final = str(FOLDER / "data")
PID_FILE: Final = str(FOLDER / "pid")
READY_SECONDS: Final = 60.0
STOP_SECONDS: Final = 60.0
#: An image's build may wait for a slow registry.
CALL_SECONDS: Final = 1800
SMALL_DISK: Final = "16m"
#: Marks every container and network of ours.
LABEL: Final = "io.copycat.e2e"


@dataclass(frozen=True, slots=True)
class Engine:
    """A running engine."""

    host: str
    """What `DOCKER_HOST` is set to for it."""
    own: bool
    """It was started here, and reaches no registry of images."""

    def client(self) -> AbstractContextManager[docker.DockerClient]:
        """Return a client, which closes when it is left."""
        return closing(docker.DockerClient(self.host, timeout=CALL_SECONDS))

    def sweep(self) -> None:
        """Remove every container, network and volume of ours, also what a run left that was killed."""
        self.remove_containers()
        with self.client() as client:
            for network in client.networks.list(filters={"label": LABEL}):
                network.reload()
                for container in network.attrs.get("Containers") or ():  # one whose removal is under way
                    network.disconnect(container, force=True)
                network.remove()
            for volume in client.volumes.list(filters={"label": LABEL}):
                volume.remove()

    def make_small_disk(self) -> str:
        """Make a volume that is soon full, for as long as containers use it; returns its name."""
        with self.client() as client:
            options = {"type": "tmpfs", "device": "tmpfs", "o": f"size={SMALL_DISK},mode=1777"}
            return str(client.volumes.create(driver_opts=options, labels={LABEL: "1"}).name)

    def remove_containers(self) -> None:
        """End and remove every container of ours."""
        with self.client() as client:
            for container in client.containers.list(all=True, filters={"label": LABEL}):
                container.remove(force=True, v=True)


@contextmanager
def running_engine() -> Iterator[Engine]:
    """Give the engine that is there (DOCKER_HOST, or the usual socket), or start one; both are swept.

    Raises:
        CalledProcessError: There is no engine, and its package cannot be installed by this user.
    """
    found = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    if _answers(found):
        engine = Engine(found, own=False)
        engine.sweep()
        yield engine
        engine.sweep()
        return
    with one_at_a_time("docker"), _own() as engine:
        yield engine


@contextmanager
def _own() -> Iterator[Engine]:
    for package, program in (("docker.io", "/usr/sbin/dockerd"), ("debootstrap", "/usr/sbin/debootstrap")):
        if not Path(program).exists():
            install(package)
    _stop_former()
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="docker-") as short:  # a socket's path has room for 107 letters
        host = f"unix://{short}/socket"
        command = [
            *("/usr/sbin/dockerd", "--host", host, "--storage-driver", "overlay2"),
            *("--data-root", DATA, "--exec-root", f"{short}/exec", "--pidfile", PID_FILE),
            # Networks of containers need no firewall of the machine, and images are built on its network.
            *("--bridge=none", "--iptables=false", "--ip-forward=false", "--ip-masq=false"),
        ]
        with (FOLDER / "log").open("wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        try:
            wait_until(lambda: _answers(host), READY_SECONDS, "the Docker engine answers")
            engine = Engine(host, own=True)
            engine.sweep()
            yield engine
            engine.sweep()
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(STOP_SECONDS)
            _unmount(Path(short))


def _answers(host: str) -> bool:
    try:
        with closing(docker.DockerClient(host, timeout=5)) as client:
            return bool(client.ping())
    except (DockerException, OSError):
        return False


def _stop_former() -> None:
    """End an engine of ours that outlived a run which was killed."""
    with suppress(FileNotFoundError, ValueError, psutil.NoSuchProcess):
        former = psutil.Process(int(Path(PID_FILE).read_text()))
        if former.name() == "dockerd" and DATA in former.cmdline():
            former.terminate()
            former.wait(STOP_SECONDS)


def _unmount(folder: Path) -> None:
    """Unmount what the engine leaves below its folder: the deepest first."""
    points = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
    for point in sorted((each for each in points if each.startswith(f"{folder}/")), reverse=True):
        subprocess.run(["/bin/umount", "--lazy", point], check=False)
