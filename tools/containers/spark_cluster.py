"""A Spark standalone cluster, a container each for the master and the workers, on the executors' image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import httpx2
from copycat_testkit.kafka import wait_until
from testcontainers.core.network import Network

from tools.containers.box import Box
from tools.containers.engine import Engine
from tools.containers.images import image_name

MASTER: Final = "spark-master"
PORT, PAGE_PORT = 7077, 8080
#: Logical ones: hosts wait for I/O most of the time, and one worker has to have room for all of them.
WORKER_CORES: Final = 8
MEMORY_MEGABYTES: Final = {"master": 512, "worker": 2048}
READY_SECONDS: Final = 180.0
ASK_SECONDS: Final = 5.0
#: Where an executor is reached by the workers' hosts and Spark's executors; each container says its own name.
OWN_NAME: Final = "COPYCAT_OWN_NAME"
#: Spark's launcher is a script beside its jars.
_START: Final = (
    'exec "$(python -c "import pyspark; print(pyspark.__path__[0])")"/bin/spark-class '
    'org.apache.spark.deploy."$@" --host "$HOSTNAME"'
)
#: Counts the processes that Copycat's daemon is and forks (`python -m ...`), in which hosts and partitions of
#: Spark run; the image has no `ps`.
COUNT_FORKED: Final = (
    "from pathlib import Path; daemon = b'-m' + bytes(1) + b'copycat_executor.spark.daemon'; "
    "print(sum(daemon in (each / 'cmdline').read_bytes() for each in Path('/proc').glob('[0-9]*')))"
)


class SparkCluster:
    """Workers find files where executors of Copycat do; the environment of Python is the image's."""

    def __init__(self, engine: Engine, on: Network, workers: int, volumes: Mapping[str, str]) -> None:
        """Nothing starts yet."""
        lean = {
            "SPARK_DAEMON_MEMORY": "128m",
            # A master that starts again has to know its applications, or it ends what they run.
            "SPARK_DAEMON_JAVA_OPTS": "-XX:+UseSerialGC -Dspark.deploy.recoveryMode=FILESYSTEM "
            "-Dspark.deploy.recoveryDirectory=/tmp/recovery",
        }
        master = ("master.Master", "--port", str(PORT), "--webui-port", str(PAGE_PORT))
        worker = (
            *("worker.Worker", f"spark://{MASTER}:{PORT}", "--cores", str(WORKER_CORES), "--memory", "1g"),
            *("--work-dir", "/tmp/work"),  # noqa: S108 - of the container alone
        )
        self.master = Box(
            engine,
            on,
            MASTER,
            image_name("executor"),
            command=("/bin/sh", "-c", _START, "start", *master),
            environment=lean,
            memory_megabytes=MEMORY_MEGABYTES["master"],
        )
        self.workers: Sequence[Box] = [
            Box(
                engine,
                on,
                f"spark-worker-{number}",
                image_name("executor"),
                command=("/bin/sh", "-c", _START, "start", *worker),
                environment=lean,
                memory_megabytes=MEMORY_MEGABYTES["worker"],
                volumes=volumes,
            )
            for number in range(1, workers + 1)
        ]

    @property
    def boxes(self) -> Sequence[Box]:
        """All of them."""
        return [self.master, *self.workers]

    @property
    def settings(self) -> Mapping[str, str]:
        """The worker properties of an executor that runs its hosts here, spread over two workers."""
        return {
            "spark.master": f"spark://{MASTER}:{PORT}",
            "spark.cores.max": str(WORKER_CORES),
            "spark.executor.cores": str(WORKER_CORES // 2),
            "spark.executor.memory": "384m",
            "spark.driver.host": f"${{env:{OWN_NAME}}}",
            "spark.driver.bindAddress": "0.0.0.0",  # noqa: S104 - on the containers' own network
        }

    def start(self) -> None:
        """Start all of them and wait until the master counts on every worker."""
        for box in self.boxes:
            box.start()
        self.wait_whole()

    def wait_whole(self) -> None:
        """Wait until the master counts on every worker."""
        wait_until(lambda: self.alive() == len(self.workers), READY_SECONDS, "every Spark worker is there")

    def alive(self) -> int:
        """Return how many workers the master counts on; 0 while it does not answer."""
        try:
            state = httpx2.get(f"http://{self.master.ip}:{PAGE_PORT}/json/", timeout=ASK_SECONDS).json()
        except (httpx2.HTTPError, ValueError):
            return 0
        return sum(worker["state"] == "ALIVE" for worker in state["workers"])


def hosts_on(worker: Box) -> int:
    """Return how many hosts of tasks a worker runs, with the daemon that forks them."""
    return int(worker.run("python", "-c", COUNT_FORKED))
