"""A program that may be silent for as long as it likes."""

from __future__ import annotations

from copycat_launcher.hang_watch import Answer, HangWatch


def unwatched() -> HangWatch:
    """Return a watch that asks nothing."""

    async def ask(seconds: float) -> Answer:
        raise AssertionError(seconds)

    return HangWatch(ask, 0)
