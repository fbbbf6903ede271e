"""States of an instance over time."""

from __future__ import annotations

from typing import Final

from copycat.types.v1 import types_pb2

UNASSIGNED: Final = "unassigned"
RESTARTING: Final = "restarting"
FAILED: Final = "failed"


def state_name(state: types_pb2.State.ValueType) -> str:
    """Return a state in the words of Kafka Connect's metrics."""
    return types_pb2.State.Name(state).removeprefix("STATE_").lower()


class StateTimes:
    """What state an instance is in, and how long it was in each."""

    def __init__(self, now: float) -> None:
        self.state = UNASSIGNED
        self._began = self._since = now
        self._spent: dict[str, float] = {}

    @property
    def starting(self) -> bool:
        """Whether its start has not ended: it was in no state yet that a start leads to."""
        return {self.state, *self._spent} <= {UNASSIGNED, RESTARTING}

    def enter(self, state: str, now: float) -> None:
        """Note the state from now on; the time until now counts for the one before."""
        self._spent[self.state] = self._spent.get(self.state, 0.0) + now - self._since
        self.state, self._since = state, now

    def share(self, state: str, now: float) -> float:
        """Return what share of its time the instance was in a state, 0 to 1."""
        spent = self._spent.get(state, 0.0) + (now - self._since if state == self.state else 0.0)
        return spent / (now - self._began) if now > self._began else 0.0
