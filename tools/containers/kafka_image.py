"""Kafka's image; where Apache's cannot be had, the verified jars on the Java of the executor's image."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Final

import docker
from copycat_embedded.broker_files import TEMPLATE
from copycat_embedded.jars import ensure_jars
from docker.errors import APIError, ImageNotFound

from tools.containers.images import image_name

OFFICIAL: Final = "apache/kafka:4.4.0"
OURS: Final = "copycat-kafka"
START: Final = Path(__file__).with_name("kafka_start.py")
DOCKERFILE: Final = f"""
FROM {image_name("executor")}
COPY --chown=10001 kafka-data /var/lib/kafka/data
COPY jars /jars
COPY kafka_start.py /
HEALTHCHECK NONE
CMD ["python", "/kafka_start.py"]
"""


def kafka_image(client: docker.DockerClient) -> str:
    """Return the name of Apache's image, or else of ours, which is built of the image of the executor."""
    try:
        client.images.pull(OFFICIAL)
    except (APIError, ImageNotFound):
        build_kafka(client)
        return OURS
    return OFFICIAL


def build_kafka(client: docker.DockerClient) -> None:
    """Build ours, which takes the settings that Apache's takes; the image of the executor is there."""
    with tempfile.TemporaryDirectory(prefix="kafka-image-") as name:
        folder = Path(name)
        for each in ("jars", "kafka-data"):  # a volume takes over whose its folder in the image is
            (folder / each).mkdir()
        for file in (*ensure_jars(("broker",)), TEMPLATE / "log4j2.properties"):
            shutil.copy(file, folder / "jars")
        shutil.copy(START, folder)
        for file in folder.rglob("*"):
            file.chmod(0o755 if file.is_dir() else 0o644)
        (folder / "Dockerfile").write_text(DOCKERFILE)
        client.images.build(path=name, tag=OURS, rm=True, forcerm=True)
