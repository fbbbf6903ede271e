"""Launches drivers of Spark: child processes of the executor, each with a JVM and a session of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Final

from copycat_executor.spark.conf import PREFIX
from copycat_executor.spark.launcher import Ended, kill_and_see
from copycat_executor.taskhost.spec import HostSpec

MODULE: Final = "copycat_executor.driverhost"
#: How the JVM of a driver ends when its heap is full (`ExitOnOutOfMemoryError`), and the driver with it.
OUT_OF_MEMORY: Final = 3
#: How a driver ends when Spark does not start it, or its cluster has given it up.
CLUSTER_LOST: Final = 4


class DriverLauncher:
    """Runs each driver as a child process of this one (`Launcher`). It ends with its lease, or with us."""

    def __init__(self, worker: Mapping[str, str], module: str = MODULE) -> None:
        """Keep what a driver needs of the worker's properties: those of Spark. `module` is what it runs."""
        self._properties = {key: value for key, value in worker.items() if key.startswith(PREFIX)}
        self._module = module
        self._processes: dict[str, subprocess.Popen[str]] = {}
        """By the ids of their hosts."""

    def launch(self, spec: HostSpec, ended: Ended) -> None:
        """Start a driver; `ended` hears its id and, after a failure, the reason, from another thread."""
        thread = threading.Thread(
            target=self._run, args=(spec, ended), name=f"driver-{spec.host_id}", daemon=True
        )
        thread.start()

    def kill(self, host_id: str, pid: int) -> None:
        """End a driver by force, also one that has not attached; its JVM follows when it notices that."""
        del pid
        process = self._processes.get(host_id)
        if process is not None:
            process.kill()

    async def kill_and_wait(self, host_id: str, pid: int) -> bool:
        """Do so, and return whether its process is gone."""
        del host_id
        return await kill_and_see(pid)

    def thread_seconds(self, pid: int) -> Mapping[str, float]:
        """Return nothing: a driver has one task, which holds up no other."""
        del pid
        return {}

    def process_seconds(self, pid: int) -> float:
        """Return nothing, for the same reason."""
        del pid
        return 0.0

    def _run(self, spec: HostSpec, ended: Ended) -> None:
        reason: str | None = "it did not run"
        try:
            # No preexec_fn: without one the child starts by vfork, which is safe beside running threads.
            process = subprocess.Popen(
                [sys.executable, "-m", self._module],
                stdin=subprocess.PIPE,
                stdout=2,
                process_group=0,  # Ctrl-C is for us; we end it in its turn
                text=True,
            )
            self._processes[spec.host_id] = process
            process.communicate(json.dumps({"spec": spec.to_json(), "properties": self._properties}))
            reason = _reason(process.returncode)
        except OSError as error:
            reason = str(error)
        finally:
            self._processes.pop(spec.host_id, None)
            ended(spec.host_id, reason)


def _reason(code: int) -> str | None:
    if code == OUT_OF_MEMORY:
        return (
            "the JVM of its driver of Spark ran out of memory: raise the worker property spark.drivers.memory"
        )
    if code == CLUSTER_LOST:
        return (
            "Spark did not start its driver, has ended what ran for it, or gave it no executor for minutes; "
            "the log says why: does the cluster of the worker property spark.drivers.master, or of "
            "spark.master, answer, and has it a free core?"
        )
    return f"its driver of Spark ended with exit code {code}" if code else None
