"""Who waits for news of a task misses none, however the threads come one after the other."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from copycat_executor.pipeline.task.control import Ending, Settlement, TaskControl

LONG_SECONDS = 60.0


def test_what_happened_before_the_wait_ends_it_at_once() -> None:
    control = TaskControl()
    happenings: tuple[Callable[[], None], ...] = (
        lambda: control.set_paused(True),
        lambda: control.settle(Settlement(1)),
        lambda: control.stop(Ending.DRAIN),
    )
    for happens in happenings:
        happens()
        began = time.monotonic()
        control.wait_for_news(LONG_SECONDS)
        assert time.monotonic() - began < LONG_SECONDS / 2


def test_news_is_told_once() -> None:
    control = TaskControl()
    control.set_paused(True)
    control.wait_for_news(LONG_SECONDS)
    began = time.monotonic()
    control.wait_for_news(0.05)
    assert time.monotonic() - began >= 0.05


def test_what_happens_meanwhile_ends_the_wait() -> None:
    control = TaskControl()
    waiting = threading.Thread(target=control.wait_for_news, args=(LONG_SECONDS,))
    waiting.start()
    control.set_paused(True)
    waiting.join(LONG_SECONDS / 2)
    assert not waiting.is_alive()
