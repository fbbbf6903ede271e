"""Whether active topics are tracked (KIP-558)."""

from __future__ import annotations

from dataclasses import dataclass

from copycat_status.domain.errors import ResetDisabledError, TrackingDisabledError


@dataclass(frozen=True, slots=True)
class Tracking:
    """What the cluster allows with active topics."""

    enabled: bool = True
    """Whether they are recorded and shown."""
    resettable: bool = True
    """Whether a user may reset them; deleting the connector always does."""

    def check_shown(self) -> None:
        """Refuse where there is nothing to show.

        Raises:
            TrackingDisabledError: Topics are not tracked.
        """
        if not self.enabled:
            raise TrackingDisabledError

    def check_reset(self) -> None:
        """Refuse where a user may not reset.

        Raises:
            TrackingDisabledError: Topics are not tracked.
            ResetDisabledError: They stay until the connector is deleted.
        """
        self.check_shown()
        if not self.resettable:
            raise ResetDisabledError
