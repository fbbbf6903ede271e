"""What is to be done about what changed: what a look at everything finds, at the cost of the changes."""

from __future__ import annotations

from collections.abc import Sequence

from copycat_executor.domain.reconcile import Action, connector_of, reconcile
from copycat_executor.state.feed import Feed
from copycat_executor.state.runs import Runs


class Differences:
    """Compares what should run with what runs, of the connectors of which one or the other changed.

    `reconcile` looks at each connector with its tasks for itself, so one of which neither changed has the
    same actions as before: none, since a connector with any is looked at again until it has none.
    """

    def __init__(self, feed: Feed, runs: Runs) -> None:
        """Look at everything the first time."""
        self._feed = feed
        self._runs = runs

    def due(self) -> Sequence[Action]:
        """Return what to do now; nothing while it is not known what should run."""
        names = self._touched()
        desired = self._feed.desired(names)
        if desired is None:
            return ()
        actions = reconcile(desired, self._runs.running(names))
        self._feed.changed_connectors.clear()
        self._runs.changed_connectors.clear()
        for action in actions:
            self._runs.changed_connectors.add(connector_of(action))
        return actions

    def _touched(self) -> Sequence[str] | None:
        wanted, ran = self._feed.changed_connectors.names, self._runs.changed_connectors.names
        return None if wanted is None or ran is None else tuple(dict.fromkeys((*wanted, *ran)))
