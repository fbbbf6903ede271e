"""What the image of Kafka runs: settings from the environment as in Apache's own image, then the broker.

`KAFKA_LOG_DIRS` is `log.dirs`; `__` stands for `_`, `___` for `-`. Runs in the image, on its Python alone.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

HEAP = "KAFKA_HEAP_OPTS"
PREFIX = "KAFKA_"
OWN = Path("/tmp/server.properties")  # noqa: S108 - in a container, whose user is alone there
CLUSTER_ID = "5L6g3nShT-eMCtK--X86sw"


def setting(name: str) -> str:
    """Return the setting of a variable: KAFKA_A_B__C is a.b_c."""
    key = name.removeprefix(PREFIX).lower()
    return key.replace("___", "-").replace("__", "\0").replace("_", ".").replace("\0", "_")


def main() -> None:
    """Write the settings, format the folder of a new broker, and become the broker."""
    given = {key: text for key, text in os.environ.items() if key.startswith(PREFIX) and key != HEAP}
    settings = {setting(key): text for key, text in given.items()}
    OWN.write_text("".join(f"{key}={text}\n" for key, text in settings.items()))
    java = ["/opt/java/bin/java", *os.environ.get(HEAP, "-Xmx512m").split(), "-cp", "/jars/*"]
    format_it = [*java, "kafka.tools.StorageTool", "format", "--ignore-formatted", "-t", CLUSTER_ID]
    subprocess.run([*format_it, "-c", str(OWN)], check=True)
    broker = [*java, "-Dlog4j2.configurationFile=/jars/log4j2.properties", "kafka.Kafka", str(OWN)]
    os.execv(broker[0], broker)  # noqa: S606 - it is to get the container's signals, as a shell's exec does


if __name__ == "__main__":
    main()
