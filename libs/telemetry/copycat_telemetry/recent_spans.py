"""Which spans have led to what is done now: a change of a connector is acted upon a moment after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from copycat_connect.cluster import Instance

from copycat_telemetry.tracing import Attributes, continuing

#: What is done about a connector later than this after its last change has other reasons.
RECENT_SECONDS: Final = 60.0


class RecentSpans:
    """The span behind the newest change of each connector, for a minute; used by one thread."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock` counts seconds."""
        self._clock = clock
        self._heard: dict[str, tuple[str, float]] = {}

    def heard(self, connector: str, traceparent: str) -> None:
        """Note a change of a connector, and of the span that led to it; empty when none did."""
        self._forget_old()
        self._heard.pop(connector, None)
        if traceparent and connector:
            self._heard[connector] = (traceparent, self._clock())

    def of(self, connector: str) -> str:
        """Return the `traceparent` of a connector's newest change; empty when no span led to it lately."""
        self._forget_old()
        return self._heard.get(connector, ("", 0.0))[0]

    @contextmanager
    def span(self, what: str, instance: Instance) -> Iterator[None]:
        """Run a block about a connector or a task as what the connector's newest change led to."""
        attributes: Attributes = {"copycat.connector": instance.connector}
        if instance.task is not None:
            attributes = {**attributes, "copycat.task": instance.task}
        with continuing(self.of(instance.connector), what, attributes):
            yield

    def _forget_old(self) -> None:
        until = self._clock() - RECENT_SECONDS
        while self._heard:  # the oldest comes first
            oldest = next(iter(self._heard))
            if self._heard[oldest][1] >= until:
                return
            del self._heard[oldest]
