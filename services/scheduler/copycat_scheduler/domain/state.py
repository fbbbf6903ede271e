"""The fold of the assignments topic."""

from __future__ import annotations

from dataclasses import dataclass, field

import immutables
from copycat_connect.cluster import Instance

from copycat_scheduler.domain.events import Assigned


@dataclass(frozen=True, slots=True)
class SchedulerState:
    """Every assignment in force."""

    assignments: immutables.Map[Instance, Assigned] = field(default_factory=immutables.Map)
    """Instance to the fact that assigned it."""
