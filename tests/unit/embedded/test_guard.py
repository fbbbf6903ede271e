"""What the guard ends, and what it leaves alone."""

from __future__ import annotations

import signal
import subprocess
import threading

import psutil
from copycat_embedded.guard import Guard

SLEEPER = ["/bin/sh", "-c", "exec sleep 60"]


def test_what_is_watched_ends_with_the_guard() -> None:
    child = subprocess.Popen(SLEEPER, start_new_session=True)
    reaper = threading.Thread(target=child.wait)  # as init would: the guard waits until the group is gone
    reaper.start()
    with Guard() as guard:
        guard.watch(child.pid)
    reaper.join(10)
    assert child.returncode == -signal.SIGTERM


def test_what_a_dead_leader_left_in_its_group_ends_too() -> None:
    leader = subprocess.Popen(
        ["/bin/sh", "-c", "sleep 60 & echo $!"], stdout=subprocess.PIPE, start_new_session=True
    )
    assert leader.stdout is not None
    left = psutil.Process(int(leader.stdout.readline()))
    leader.stdout.close()
    leader.wait()
    with Guard() as guard:
        guard.watch(leader.pid)
    left.wait(10)
    assert not left.is_running()


def test_what_was_forgotten_lives_on() -> None:
    child = subprocess.Popen(SLEEPER, start_new_session=True)
    with Guard() as guard:
        guard.watch(child.pid)
        guard.forget(child.pid)
    assert child.poll() is None
    child.kill()
    child.wait()
