"""The images that ours stand on: the official ones, or Debian's packages where no registry can be reached."""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import docker
from docker.errors import APIError, ImageNotFound

OFFICIAL: Final = "python:3.12-slim-bookworm"
SUITE: Final = "bookworm"
MIRROR: Final = "http://deb.debian.org/debian"
#: As in the official images: debootstrap itself knows the release alone, without what was mended since.
SOURCES: Final = "".join(
    f"deb {MIRROR}{suite} main\n"
    for suite in (f" {SUITE}", f" {SUITE}-updates", f"-security {SUITE}-security")
)
CERTIFICATES: Final = "etc/ssl/certs/ca-certificates.crt"
#: What slim images leave out.
UNREAD: Final = (
    *("usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/info"),
    *("var/cache/apt", "var/lib/apt/lists", "var/cache/debconf", "var/log"),
)
BUILD_PACKAGES: Final = ("python3-pip",)
_SECONDS: Final = 900.0


@dataclass(frozen=True, slots=True)
class Bases:
    """Names of images with Python 3.11 or newer."""

    build: str
    """Has pip."""
    runtime: str
    """What containers stand on."""


def bases(client: docker.DockerClient) -> Bases:
    """Return the official image for both, or else two of ours, made once from Debian's archive.

    Raises:
        CalledProcessError: Neither a registry nor Debian's archive can be reached.
    """
    ours = Bases("copycat-base-build", "copycat-base-runtime")
    if _has(client, ours.build) and _has(client, ours.runtime):
        return ours
    try:
        client.images.pull(OFFICIAL)
    except (APIError, ImageNotFound):
        _make(client, ours)
        return ours
    return Bases(OFFICIAL, OFFICIAL)


def _has(client: docker.DockerClient, name: str) -> bool:
    return bool(client.images.list(name))


def _make(client: docker.DockerClient, ours: Bases) -> None:
    with tempfile.TemporaryDirectory(prefix="debian-") as folder:
        root = Path(folder) / "root"
        root.mkdir(mode=0o755)
        include = "--include=python3-minimal,python3,ca-certificates"
        _run("/usr/sbin/debootstrap", "--variant=minbase", include, SUITE, str(root), MIRROR)
        (root / "etc/apt/sources.list").write_text(SOURCES, encoding="utf-8")
        _trust(root)
        _import(client, root, ours.runtime)
        _run(
            *("/usr/sbin/chroot", str(root), "/bin/sh", "-c"),
            f"apt-get -q update && apt-get -q install -y --no-install-recommends {' '.join(BUILD_PACKAGES)}",
        )
        _import(client, root, ours.build)


def _trust(root: Path) -> None:
    """Trust whom this machine trusts: a registry of packages may be behind a proxy of its owner."""
    mine = os.environ.get("SSL_CERT_FILE") or ssl.get_default_verify_paths().cafile
    if mine and Path(mine).is_file():
        shutil.copyfile(mine, root / CERTIFICATES)


def _import(client: docker.DockerClient, root: Path, name: str) -> None:
    left_out = [f"--exclude=./{each}/*" for each in UNREAD]
    archive = root.with_suffix(".tar")
    _run("/bin/tar", "-C", str(root), *left_out, "-cf", str(archive), ".")
    environment = f"ENV SSL_CERT_FILE=/{CERTIFICATES} PIP_BREAK_SYSTEM_PACKAGES=1"
    client.api.import_image_from_file(str(archive), repository=name, tag="latest", changes=[environment])
    archive.unlink()


def _run(*command: str) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(command, check=True, capture_output=True, timeout=_SECONDS, env=environment)
