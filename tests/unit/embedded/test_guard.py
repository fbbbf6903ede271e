"""What the guard ends, and what it leaves alone."""

from __future__ import annotations

import signal
import subprocess
import threading

from copycat_embedded.guard import Guard

SLEEPER = ["/bin/sh", "-c", "sleep 60"]


def test_what_is_watched_ends_with_the_guard() -> None:
    child = subprocess.Popen(SLEEPER, start_new_session=True)
    reaper = threading.Thread(target=child.wait)  # as init would: the guard waits until the group is gone
    reaper.start()
    with Guard() as guard:
        guard.watch(child.pid)
    reaper.join(10)
    assert child.returncode == -signal.SIGTERM


def test_what_was_forgotten_lives_on() -> None:
    child = subprocess.Popen(SLEEPER, start_new_session=True)
    with Guard() as guard:
        guard.watch(child.pid)
        guard.forget(child.pid)
    assert child.poll() is None
    child.kill()
    child.wait()
