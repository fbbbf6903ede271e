"""Memory and CPU of a running `copycat up`, role by role."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from typing import Final

from copycat_testkit.system import CopycatUp

from tools.bench.processes import cpu_seconds

#: Processes of connectors count as the executor's; `host` are the task hosts, `spark` the driver's JVM.
ROLES: Final = ("config", "offset", "status", "scheduler", "gateway", "executor", "spark", "host")
MB: Final = 1e6


def memory(system: CopycatUp) -> Mapping[str, tuple[float, float]]:
    """Return the resident and the proportional memory of each role, all its processes together, in MB."""
    return {role: _memory(system, role) for role in ROLES}


def cores(system: CopycatUp, seconds: float) -> Mapping[str, float]:
    """Return the share of one core each role uses while nobody asks for anything."""
    processes = {role: system.processes(role) for role in ROLES}
    before, began = {role: cpu_seconds(found) for role, found in processes.items()}, time.monotonic()
    time.sleep(seconds)  # the measurement is of time itself
    spent = time.monotonic() - began
    return {role: (cpu_seconds(found) - before[role]) / spent for role, found in processes.items()}


def _memory(system: CopycatUp, role: str) -> tuple[float, float]:
    resident = proportional = 0
    for process in system.processes(role):
        with contextlib.suppress(OSError, RuntimeError):
            info = process.memory_full_info()
            resident, proportional = resident + info.rss, proportional + info.pss
    return resident / MB, proportional / MB
