"""The script: every call, in order."""

from __future__ import annotations

from typing import Final

from tests.compat.rest.script import creating, edges, living, offsets, plugins
from tests.compat.rest.step import Step

STEPS: Final[tuple[Step, ...]] = (
    *creating.STEPS,
    *living.STEPS,
    *offsets.STEPS,
    *plugins.STEPS,
    *edges.STEPS,
)
