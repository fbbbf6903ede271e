"""The archive of images that a node of our own starts with: no registry has to be reached."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Final

import docker
from copycat_embedded.broker_files import TEMPLATE
from copycat_embedded.jars import ensure_jars

from tools.cluster.programs import pause_program
from tools.containers.engine import ROOT, running_engine
from tools.containers.images import SERVICES, build, image_name

ARCHIVE: Final = ROOT / "build/cluster/images.tar"
KAFKA: Final = "copycat-kafka"
PAUSE: Final = "copycat-pause"
DOCKER: Final = "/usr/bin/docker"
#: The broker is the verified jars, on the Java of the executors' image.
_KAFKA_FILE: Final = f"""
FROM {image_name("executor")}
COPY jars /jars
COPY log4j2.properties /etc/kafka/log4j2.properties
ENTRYPOINT []
"""


def archive() -> Path:
    """Build the images of the tree as it is, and keep them as one file; where nothing changed it stays."""
    with running_engine() as engine, engine.client() as client:
        for _ in build(client):
            pass
        _build_kafka(client)
        _build_pause(client)
        names = [*map(image_name, SERVICES), KAFKA, PAUSE]
        ids = {name: str(client.images.get(name).id) for name in names}
        listed = ARCHIVE.with_suffix(".json")
        if not (listed.exists() and ARCHIVE.exists() and json.loads(listed.read_text()) == ids):
            ARCHIVE.parent.mkdir(parents=True, exist_ok=True)
            command = [DOCKER, "--host", engine.host, "save", "--output", str(ARCHIVE), *names]
            subprocess.run(command, check=True)  # the library saves images one by one, with all they share
            listed.write_text(json.dumps(ids))
    return ARCHIVE


def _build_kafka(client: docker.DockerClient) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "jars").mkdir()
        for jar in ensure_jars(("broker",)):
            shutil.copy(jar, folder / "jars")
        shutil.copy(TEMPLATE / "log4j2.properties", folder)
        (folder / "Dockerfile").write_text(_KAFKA_FILE)
        client.images.build(path=place, tag=KAFKA, network_mode="none", rm=True, forcerm=True)


def _build_pause(client: docker.DockerClient) -> None:
    if client.images.list(PAUSE):
        return
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as layer:
        layer.add(pause_program(), "pause")
    client.api.import_image_from_data(content.getvalue(), repository=PAUSE, changes=['ENTRYPOINT ["/pause"]'])


if __name__ == "__main__":
    print(archive())
