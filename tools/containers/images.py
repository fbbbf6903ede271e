"""Builds the images of the services from deploy/images/Dockerfile."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import docker
from docker.errors import BuildError

from tools.containers.base_image import bases
from tools.containers.engine import ROOT

SERVICES: Final = ("config", "offset", "status", "scheduler", "gateway", "executor")
DOCKERFILE: Final = "deploy/images/Dockerfile"


def image_name(role: str, version: str = "") -> str:
    """Return what the image of a role is called: that of this tree, or of another version."""
    return f"copycat-{role}:{version}" if version else f"copycat-{role}"


def build(
    client: docker.DockerClient, roles: Sequence[str] = SERVICES, *, tree: Path = ROOT, version: str = ""
) -> Iterator[str]:
    """Build one after the other, naming each role when its image is there.

    Layers that nothing changed are taken from the build before, but for Debian's updates of another day.
    `tree`: a checkout of that version.

    Raises:
        RuntimeError: A step failed; the text ends with what it said last.
    """
    arguments = build_arguments(client, version)
    for role in roles:
        _build(client, role, image_name(role, version), tree, arguments)
        yield role


def build_arguments(client: docker.DockerClient, version: str = "") -> Mapping[str, str]:
    """Return the arguments of the Dockerfile; a build with others does not find its layers again."""
    base = bases(client)
    return {
        "PYTHON_IMAGE": base.build,
        "RUNTIME_IMAGE": base.runtime,
        "COMMIT": version or _commit(),
        "UPDATED": datetime.now(UTC).date().isoformat(),
    }


def _build(
    client: docker.DockerClient, role: str, tag: str, tree: Path, arguments: Mapping[str, str]
) -> None:
    try:
        client.images.build(
            path=str(tree),
            dockerfile=DOCKERFILE,
            target=role,
            tag=tag,
            buildargs=dict(arguments),
            network_mode="host",
            rm=True,
            forcerm=True,
        )
    except BuildError as error:
        said = "".join(str(line.get("stream", line.get("error", ""))) for line in error.build_log)
        message = f"The image {tag} could not be built: {error.msg}\n{said[-4000:]}"
        raise RuntimeError(message) from None


def _commit() -> str:
    asked = subprocess.run(
        ["git", "rev-parse", "HEAD"],  # noqa: S607 - the git that cloned us
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return asked.stdout.strip() or "unknown"
