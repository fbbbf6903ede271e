"""The archive of images that a node of our own starts with: no registry has to be reached."""

from __future__ import annotations

import io
import json
import subprocess
import tarfile
from pathlib import Path
from typing import Final

import docker

from tools.cluster.programs import pause_program
from tools.containers.engine import ROOT, running_engine
from tools.containers.images import SERVICES, build, image_name
from tools.containers.kafka_image import OURS, build_kafka

ARCHIVE: Final = ROOT / "build/cluster/images.tar"
PAUSE: Final = "copycat-pause"
DOCKER: Final = "/usr/bin/docker"


def archive() -> Path:
    """Build the images of the tree as it is, and keep them as one file; where nothing changed it stays."""
    with running_engine() as engine, engine.client() as client:
        for _ in build(client):
            pass
        build_kafka(client)
        _build_pause(client)
        names = [*map(image_name, SERVICES), OURS, PAUSE]
        ids = {name: str(client.images.get(name).id) for name in names}
        listed = ARCHIVE.with_suffix(".json")
        if not (listed.exists() and ARCHIVE.exists() and json.loads(listed.read_text()) == ids):
            ARCHIVE.parent.mkdir(parents=True, exist_ok=True)
            command = [DOCKER, "--host", engine.host, "save", "--output", str(ARCHIVE), *names]
            subprocess.run(command, check=True)  # the library saves images one by one, with all they share
            listed.write_text(json.dumps(ids))
    return ARCHIVE


def _build_pause(client: docker.DockerClient) -> None:
    if client.images.list(PAUSE):
        return
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as layer:
        layer.add(pause_program(), "pause")
    client.api.import_image_from_data(content.getvalue(), repository=PAUSE, changes=['ENTRYPOINT ["/pause"]'])


if __name__ == "__main__":
    print(archive())
