"""CPU time of a stretch of a benchmark, of processes that come and go."""

from __future__ import annotations

import os
import subprocess
import sys

from tools.bench.moves import Stretch

_BURN = "import time\nwhile time.process_time() < 0.5: pass\nprint(flush=True)\ninput()"


def _burnt() -> subprocess.Popen[bytes]:
    """Start a child that has used half a second of CPU time and waits."""
    child = subprocess.Popen([sys.executable, "-c", _BURN], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    return child


def test_a_process_that_ends_takes_nothing_of_what_others_used() -> None:
    with _burnt() as earlier:
        stretch = Stretch(os.getpid())
        with _burnt() as later:
            earlier.communicate(b"\n")
            cpu = stretch.moved(1_000_000, 1.0).cpu
            later.communicate(b"\n")
    assert cpu >= 0.3
